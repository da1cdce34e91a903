//! What people write in scripts: loops, interpolation, arithmetic, methods, `def`, `rescue`, Java's
//! names. Values are those of Ruby 2.5, which JRuby 9.2 has.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use hblite_shell::{Outcome, ReadLines, ScriptOptions};

use crate::support::Session;

fn session() -> Session {
    let mut session = Session::new(1_000, 10);
    let (outcome, _) = session.run("create 't', 'f'");
    assert_eq!(outcome, Outcome::Done);
    session
}

/// The inspected value of an expression.
fn value(session: &mut Session, source: &str) -> String {
    let (outcome, printed) = session.run(&format!("p(({source}))"));
    assert_eq!(outcome, Outcome::Done, "{source}: {printed}");
    printed.trim_end().to_owned()
}

fn refusal(session: &mut Session, source: &str) -> String {
    match session.run(source) {
        (Outcome::Failed(message), _) => message,
        other => panic!("{source}: {other:?}"),
    }
}

#[test]
fn expressions_have_rubys_values() {
    let mut session = session();
    for (source, expected) in [
        ("1 + 2 * 3 - 4", "3"),
        ("-7 / 2", "-4"),
        ("-7 % 3", "2"),
        ("2 ** 10", "1024"),
        ("7.0 / 2", "3.5"),
        ("1 << 4 | 3", "19"),
        ("1 == 1.0 && 'a' != 'b'", "true"),
        ("nil || false || 5", "5"),
        ("!nil", "true"),
        ("3 <=> 4", "-1"),
        ("5 > 3 ? 'yes' : 'no'", "\"yes\""),
        ("\"a#{1 + 1}b#{'c'.upcase}\"", "\"a2bC\""),
        ("\"#{\"in #{1}\"} out\"", "\"in 1 out\""),
        ("'%05d|%-4s|%x|%.2f|%+d' % [42, 'ab', 255, 1.5, 3]", "\"00042|ab  |ff|1.50|+3\""),
        ("format('%03d', 7)", "\"007\""),
        ("'abc'[1]", "\"b\""),
        ("'abc'[-2, 2]", "\"bc\""),
        ("'abcd'[1..2]", "\"bc\""),
        ("'a,b,,'.split(',')", "[\"a\", \"b\"]"),
        ("'a1b22'.scan(/[0-9]+/)", "[\"1\", \"22\"]"),
        ("'az'.succ + 'Zz'.succ + 'a9'.succ", "\"baAAab0\""),
        ("'hello'.sub('l', 'L') + 'hello'.gsub(/l/, 'L')", "\"heLloheLLo\""),
        ("'row'.rjust(5, '0') + 'x' * 3", "\"00rowxxx\""),
        ("'abc' =~ /c/", "2"),
        ("'abc'.start_with?('ab') && 'abc'.end_with?('c')", "true"),
        ("'12abc'.to_i + '0x1f'.hex + '1.5'.to_f.round", "45"),
        ("'hello'.tr('a-y', 'b-z')", "\"ifmmp\""),
        ("255.to_s(16) + '%b' % 5", "\"ff101\""),
        ("[3, 1, 2].sort.reverse", "[3, 2, 1]"),
        ("[1, [2, [nil, 3]]].flatten.compact.sum", "6"),
        ("[1, 2, 3, 4].select { |x| x.even? }.map { |x| x * 10 }", "[20, 40]"),
        ("%w[b a c].sort_by { |x| x }.join('-')", "\"a-b-c\""),
        ("[1, 2, 3].inject { |a, b| a + b } + [4, 5].reduce(:+)", "15"),
        ("%w[a b].each_with_index.map { |x, i| x * i }", "[\"\", \"b\"]"),
        ("%w[a b].map.with_index(1) { |x, i| x * i }", "[\"a\", \"bb\"]"),
        ("3.times.map { |i| i * i }", "[0, 1, 4]"),
        ("%w[x y].zip([1, 2]).to_h", "{\"x\"=>1, \"y\"=>2}"),
        ("[1, 2, 3, 4, 5].each_slice(2).to_a", "[[1, 2], [3, 4], [5]]"),
        ("%w[a b].map(&:upcase)", "[\"A\", \"B\"]"),
        ("(1..10).step(3).to_a", "[1, 4, 7, 10]"),
        ("!true == false", "true"),
        ("(1...4).to_a + ('a'..'c').to_a", "[1, 2, 3, \"a\", \"b\", \"c\"]"),
        ("(1..5).include?(3)", "true"),
        ("{'a' => 1, 'b' => 2}.map { |k, v| \"#{k}=#{v}\" }", "[\"a=1\", \"b=2\"]"),
        ("{'a' => 1}.merge('b' => 2).select { |k, v| v > 1 }", "{\"b\"=>2}"),
        ("{'a' => {'b' => [7]}}.dig('a', 'b', 0)", "7"),
        ("[[1, 'x'], [2, 'y']].group_by { |n, s| n.odd? }.keys", "[true, false]"),
        ("case 5 when 1..3 then 'low' when Integer then 'int' else 'other' end", "\"int\""),
        ("if false then 1 elsif true then 2 else 3 end", "2"),
        ("(x = 3; x += 4; x ||= 9; x)", "7"),
        ("(a = [1]; a << 2; a.push(3); a[5] = 6; a)", "[1, 2, 3, nil, nil, 6]"),
        ("(h = {}; h['k'] = [1]; h['k'] << 2; h)", "{\"k\"=>[1, 2]}"),
        ("(s = 'a'; s << 'b'; s.upcase!; s)", "\"AB\""),
        ("(i = 0; i += 1 while i < 5; i)", "5"),
        ("[1, 2, 3].each { |x| break x * 10 if x == 2 }", "20"),
        ("(1..4).map { |x| next 0 if x == 2; x }", "[1, 0, 3, 4]"),
        ("nil.to_s + nil.to_a.inspect", "\"[]\""),
        ("nil&.upcase.nil?", "true"),
        ("Integer('0x10') + Integer('5')", "21"),
        ("MD5Hash.getMD5AsHex(Bytes.toBytes('a'))[0, 4]", "\"0cc1\""),
        ("Bytes.toBytes(1)", "\"\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0001\""),
        ("Bytes.toStringBinary(\"a\\x00\")", "\"a\\\\x00\""),
        ("org.apache.hadoop.hbase.util.Bytes.toLong(Bytes.toBytes(-5))", "-5"),
        ("org.apache.hadoop.hbase.HConstants::LATEST_TIMESTAMP", "9223372036854775807"),
        ("java.lang.Integer::MAX_VALUE", "2147483647"),
        ("Time.now.to_i", "1"),
    ] {
        let shown = value(&mut session, source);
        if source == "Time.now.to_i" {
            assert!(shown.parse::<i64>().is_ok(), "{shown}");
        } else {
            assert_eq!(shown, expected, "{source}");
        }
    }
}

fn script(session: &mut Session, text: &str) -> String {
    let mut lines = ReadLines::new(text.as_bytes());
    session.shell.run_script(&mut lines, ScriptOptions::default()).unwrap();
    let printed = session.transcript.take();
    printed.lines().filter(|line| !line.starts_with("Took ")).collect::<Vec<_>>().join("\n")
}

#[test]
fn scripts_loop_define_and_catch() {
    let mut session = session();
    let text = r##"
def key(number, width = 3)
  "row-#{number.to_s.rjust(width, '0')}"
end

def twice
  yield 1
  yield 2
end

for i in 'a'..'c' do
  put 't', "#{i}1", 'f:q', i
end
(1..3).each do |n|
  put 't', key(n), 'f:n', n unless n == 2
end
2.times { |n| put 't', "t#{n}", 'f:n', n * 2 }
1.upto(2) { |n| puts n }
twice { |n| puts "twice #{n}" }
count 't'
begin
  get 'nosuch', 'r'
rescue => e
  puts "caught #{e.class}: #{e.message}"
ensure
  puts 'always'
end
begin
  raise ArgumentError, 'mine'
rescue TypeError
  puts 'no'
rescue ArgumentError => e
  puts e.message
end
import org.apache.hadoop.hbase.filter.PrefixFilter
scan 't', FILTER => PrefixFilter.new(Bytes.toBytes('row')), COLUMNS => ['f:n']
include_java = org.apache.hadoop.hbase.filter.FilterList
list = FilterList.new(PrefixFilter.new('a'), KeyOnlyFilter.new)
scan 't', {FILTER => list}
filter = SingleColumnValueFilter.new('f', 'q', CompareOperator::EQUAL, BinaryComparator.new('b'))
get_counter = 5
puts get_counter
scan 't', {FILTER => filter, LIMIT => 1, STARTROW => 'a', STOPROW => 'c'}
"##;
    let printed = script(&mut session, text);
    let lines: Vec<&str> = printed.lines().collect();
    for expected in [
        "1",
        "twice 2",
        "7 row(s)",
        "caught org.apache.hadoop.hbase.TableNotFoundException: Unknown table nosuch!",
        "always",
        "mine",
        "5",
    ] {
        assert!(lines.contains(&expected), "{expected} is not in:\n{printed}");
    }
    assert!(!printed.contains("ERROR") && !lines.contains(&"no"), "{printed}");
    let rows = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!((rows(" row-001 "), rows(" row-003 "), rows(" row-002 ")), (1, 1, 0), "{printed}");
    assert_eq!((rows(" a1 "), rows(" b1 ")), (1, 1), "{printed}");
}

#[test]
fn nothing_runs_without_bound() {
    let mut session = session();
    for (source, class) in [
        ("def f(n)\n f(n + 1)\nend\nf(0)", "SystemStackError"),
        ("x = 'a' * 100_000_000", "NoMemoryError"),
        ("x = 'a'; while true; x = x + x; end", "NoMemoryError"),
        ("(1..10_000_000_000).to_a", "NoMemoryError"),
        ("a = ['x']; 60.times { a = [a, a] }", "NoMemoryError"),
        ("a = []; 1_000_000.times { a = [a] }", "NoMemoryError"),
        ("h = {}; 1_000_000.times { h = { 'a' => h } }", "NoMemoryError"),
        ("a = ['x' * 1_000_000] * 1_000", "NoMemoryError"),
        ("a = []; 1_000.times { a << 'x' * 1_000_000 }", "NoMemoryError"),
        ("(1..1_000).map { 'x' * 1_000_000 }", "NoMemoryError"),
        ("9_223_372_036_854_775_807 + 1", "RangeError"),
        ("1 / 0", "ZeroDivisionError"),
        ("break", "LocalJumpError"),
        ("[1, 'a'].sort", "ArgumentError"),
    ] {
        let message = refusal(&mut session, source);
        assert!(message.starts_with(class), "{source}: {message}");
    }
    let (outcome, printed) = session.run("puts 'alive'");
    assert_eq!((outcome, printed.as_str()), (Outcome::Done, "alive\n"));
}

#[test]
fn what_is_refused_says_what_to_write_instead() {
    let mut session = session();
    for (source, advice) in [
        ("rand(5)", "MD5Hash"),
        ("f = lambda { |x| x }", "def"),
        ("class A; end", "def"),
        ("[1].each_with_object([]) { |x, a| a << x }", "inject"),
        ("java.util.ArrayList.new", "filter language"),
        ("FuzzyRowFilter.new('a')", "filter language"),
        ("get t, 'r'", "needs quotes: 't'"),
    ] {
        let message = refusal(&mut session, source);
        assert!(message.contains(advice), "{source}: {message}");
    }
}

#[test]
fn blocks_wait_for_their_end() {
    let mut session = session();
    for source in
        ["[1].each do |x|", "def a", "if 1 > 2", "begin", "x = [1].map { |a|", "for i in 1..2"]
    {
        assert_eq!(session.run(source).0, Outcome::Incomplete, "{source}");
    }
    let (_, printed) = session.run("[1, 2].each do |x|\n  puts x\nend");
    assert_eq!(printed, "1\n2\n=> [1, 2]\n");
    let (_, printed) = session.run("for i in 'a'..'b' do puts i end");
    assert_eq!(printed, "a\nb\n=> \"a\"..\"b\"\n");
}

/// A variable takes neither arguments nor a block: more lines do not make such a line valid.
#[test]
fn what_is_unfinished_depends_on_the_variables() {
    let mut session = session();
    for (source, outcome) in [
        ("x {", Outcome::Incomplete),
        ("x = [6]", Outcome::Done),
        ("x [0] =", Outcome::Incomplete),
        ("def f(y)", Outcome::Incomplete),
        ("def f(y) y end; f 1", Outcome::Done),
        ("f {", Outcome::Incomplete),
    ] {
        assert_eq!(session.shell.is_complete(source), outcome == Outcome::Done, "{source}");
        assert_eq!(session.run(source).0, outcome, "{source}");
    }
    assert_eq!(value(&mut session, "x [0] + \"abc\" [1].to_i"), "6");
    for (source, expected) in [
        ("n = 6", "6"),
        ("n /2", "3"),
        ("m = 8; m /2", "4"),
        ("[4].map { |a, b| a /2 }", "[2]"),
        ("for a in [4] do puts a /2 end", "2\n=> [4]"),
        ("def half(a) a /2 end; half 6", "3"),
        ("\"#{n /2}\"", "\"3\""),
        ("p /n/", "/n/"),
    ] {
        let (outcome, printed) = session.run(source);
        assert_eq!(outcome, Outcome::Done, "{source}: {printed}");
        assert!(printed.trim_end().ends_with(expected), "{source}: {printed}");
    }
    for source in ["x {", "x do", "x 'a',", "x :a, {", "[1].each { |z| z 'a',"] {
        assert!(session.shell.is_complete(source), "{source}");
        assert!(refusal(&mut session, source).contains("unexpected"), "{source}");
    }
    let Outcome::Failed(message) = session.shell.give_up("x [0] =").unwrap() else { panic!() };
    assert!(message.contains("unexpected end-of-file"), "{message}");
}

/// Items are added where they are, and the whole is neither copied nor weighed for each.
#[test]
fn adding_to_a_list_takes_the_same_time_however_long_it_is() {
    let mut session = session();
    for source in [
        "(a = []; 300_000.times { |i| a << i }; a.size)",
        "(a = []; for i in 1..300_000 do a.push(i) end; a.size)",
        "(a = []; while a.size < 3_000 do a << 1; end; a.size * 100)",
        "(a = [0]; (1..300_000).each { |i| a[0] = i; a << i if i > 1 }; a.size)",
        "(s = ''; 300_000.times { s << 'x' }; s.size)",
    ] {
        assert_eq!(value(&mut session, source), "300000", "{source}");
    }
    for (source, expected) in [
        ("(a = []; b = (a << 1); [a, b])", "[[1], [1]]"),
        ("(a = []; [1, 2].map { |x| a << x })", "[[1], [1, 2]]"),
        ("(a = []; [1, 2].each { |x| a << x if x > 1 }; a)", "[2]"),
        ("(a = []; (a << 1).size)", "1"),
        ("(a = []; [1].each { |x| c = a << x; a << c.size }; a)", "[1, 1]"),
        ("(def more(a); a << 1; end; [1].each { |x| x = more([]) }; more([0]))", "[0, 1]"),
        ("(h = {}; [1, 2].each { |x| h[x] = h.size }; h)", "{1=>0, 2=>1}"),
    ] {
        assert_eq!(value(&mut session, source), expected, "{source}");
    }
}

#[test]
fn a_hash_finds_its_keys_in_the_same_time_however_many_there_are() {
    let mut session = session();
    for (source, expected) in [
        ("(h = {}; 40_000.times { |i| h[i] = i }; h.size)", "40000"),
        ("(h = {}; 40_000.times { |i| h[i] = h[i - 1] }; h.size)", "40000"),
        ("(h = {}; 40_000.times { |i| h[i % 9] = (h[i % 9] || 0) + h.size }; h.size)", "9"),
        ("(h = {}; 40_000.times { |i| h[i] = 1; h.delete(i - 9) }; h.keys.size)", "9"),
        ("(1..40_000).group_by { |i| i % 2 }.values.map { |v| v.size }", "[20000, 20000]"),
        (
            "(h = {'b' => 1, 'a' => 2}; h.delete('b'); h['c'] = 3; h['b'] = 4; h.keys)",
            "[\"a\", \"c\", \"b\"]",
        ),
        ("(h = {'b' => 1, 'a' => 2}; h['b'] = 3; h)", "{\"b\"=>3, \"a\"=>2}"),
        ("(h = {}; h['a'] ||= 2; h['a'] += 1; h)", "{\"a\"=>3}"),
        ("(a = ['x']; a[0].size + a.first.size)", "2"),
    ] {
        assert_eq!(value(&mut session, source), expected, "{source}");
    }
}

#[test]
fn lists_are_searched_and_keys_are_hashed() {
    let mut session = Session::new(1_000, 10);
    for (line, value) in [
        ("require 'digest/md5'", "=> true\n"),
        ("Digest::MD5.hexdigest('key')[0, 4]", "=> \"3c6e\"\n"),
        ("['ab', 'b', 'ac'].grep(/^a/)", "=> [\"ab\", \"ac\"]\n"),
        ("[1, 5, 9].grep(2..6)", "=> [5]\n"),
        ("[1, 5, 9].grep_v(2..6)", "=> [1, 9]\n"),
        ("a = 1; b = 2; a + b", "=> 3\n"),
    ] {
        assert_eq!(session.run(line).1, value, "{line}");
    }
}
