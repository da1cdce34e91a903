package hblite.embedded;

import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/**
 * Runs a program that uses HBase's client with the store in the same process. Its arguments: a
 * directory of the class path for {@code hbase-site.xml}, the class of the program, and the
 * program's arguments.
 */
public final class InProcess {
  private InProcess() {}

  public static void main(String[] arguments) throws Exception {
    Path site = Paths.get(arguments[0], "hbase-site.xml");
    EmbeddedHBlite store = EmbeddedHBlite.inMemory();
    // Not at once into the file, which is read as soon as it is there.
    ByteArrayOutputStream settings = new ByteArrayOutputStream();
    store.configuration().writeXml(settings);
    Files.write(site, settings.toByteArray());
    String[] rest = new String[arguments.length - 2];
    System.arraycopy(arguments, 2, rest, 0, rest.length);
    Class.forName(arguments[1]).getMethod("main", String[].class).invoke(null, (Object) rest);
  }
}
