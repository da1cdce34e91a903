package hblite.conformance;

/** Questions about one subject. */
interface Scenario {
  void run(Store store, Answers answers) throws Exception;
}
