package hblitetest

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func answer(t *testing.T, address, word string) string {
	t.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := connection.Write([]byte(word)); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(connection)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAServerAnswers(t *testing.T) {
	server := Start(t)
	if got := answer(t, server.ZooKeeper(), "ruok"); got != "imok" {
		t.Fatalf("got %q", got)
	}
	port := server.Configuration()["hbase.zookeeper.property.clientPort"]
	if !strings.HasSuffix(server.ZooKeeper(), ":"+port) {
		t.Fatalf("%s is not the port of %s", port, server.ZooKeeper())
	}
}

func TestTwoServersShareNothing(t *testing.T) {
	one, other := Start(t), Start(t)
	if one.ZooKeeper() == other.ZooKeeper() || one.URL() == other.URL() {
		t.Fatalf("%+v and %+v share a port", one.ports, other.ports)
	}
	one.Stop()
	if _, err := net.Dial("tcp", one.ZooKeeper()); err == nil {
		t.Fatal("a stopped server has an open port")
	}
	if got := answer(t, other.ZooKeeper(), "ruok"); got != "imok" {
		t.Fatalf("got %q", got)
	}
}

func TestTheAddressesOfGatewaysAndTheConsoleAreKnown(t *testing.T) {
	arguments := []string{"--thrift-port", "0", "--thrift2-port", "0", "--rest-port", "0"}
	server := StartWith(t, Options{Arguments: arguments})
	for _, address := range []string{server.Thrift(), server.Thrift2(), server.REST()} {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		connection.Close()
	}
	if !strings.HasPrefix(server.Console(), server.URL()+"/console/") {
		t.Error(server.Console())
	}
	if plain := Start(t); plain.Thrift()+plain.Thrift2()+plain.REST() != "" {
		t.Error("a gateway that was not started has an address")
	}
}

func TestFaultsAreSetAndCleared(t *testing.T) {
	server := StartWith(t, Options{RegionServers: 2})
	fault := Fault{Drop: "after", Methods: []string{"Mutate"}, Tables: []string{"orders"}, Count: 3}
	id, err := server.SetFault(fault)
	if err != nil {
		t.Fatal(err)
	}
	faults, err := server.Faults()
	if err != nil || len(faults) != 1 || faults[0].ID != id || faults[0].Happened != 0 {
		t.Fatalf("got %+v, %v", faults, err)
	}
	if err := server.ClearFault(id); err != nil {
		t.Fatal(err)
	}
	if err := server.ClearFault(id); err == nil || !strings.Contains(err.Error(), "no fault has the number") {
		t.Fatalf("got %v", err)
	}
	if err := server.Crash(1); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(1); err != nil {
		t.Fatal(err)
	}
}

func TestAForkBeginsAsItsCheckpointAndEndsAlone(t *testing.T) {
	server := Start(t)
	const name = "a-base.1"
	if err := server.Checkpoint(name); err != nil {
		t.Fatal(err)
	}
	if err := server.Rewind(name); err != nil {
		t.Fatal(err)
	}
	var fork *Server
	t.Run("fork", func(t *testing.T) {
		fork = server.Fork(t, name)
		if got := answer(t, fork.ZooKeeper(), "ruok"); got != "imok" || fork.URL() == server.URL() {
			t.Fatalf("got %q from %s", got, fork.URL())
		}
	})
	if _, err := net.Dial("tcp", fork.ZooKeeper()); err == nil {
		t.Fatal("the fork has outlived its test")
	}
	if _, err := server.NewFork("unknown"); err == nil || !strings.Contains(err.Error(), "unknown") {
		t.Fatalf("got %v", err)
	}
}

func TestAClockMovesOnRequest(t *testing.T) {
	server := Start(t)
	if err := server.StopClock(); err != nil {
		t.Fatal(err)
	}
	start, err := server.Now()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.AdvanceClock(24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	if now, err := server.Now(); err != nil || now.Sub(start) != 24*time.Hour {
		t.Fatalf("%s after %s, %v", now, start, err)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	directory := t.TempDir()
	if _, err := FindBinary(directory); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Fatalf("got %v", err)
	}
	file := filepath.Join(directory, "hblite")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FindBinary(file); err == nil || !strings.Contains(err.Error(), "chmod +x") {
		t.Fatalf("got %v", err)
	}
	_, err := Launch(Options{Settings: map[string]string{"hbase.nothing": "1"}})
	if err == nil || !strings.Contains(err.Error(), "hbase.nothing is not a setting of hblite") {
		t.Fatalf("got %v", err)
	}
	taken := strings.TrimPrefix(Start(t).URL(), "http://")
	_, port, _ := strings.Cut(taken, ":")
	_, err = Launch(Options{Arguments: []string{"--http-port", port}})
	if err == nil || !strings.Contains(err.Error(), "cannot listen on "+taken) {
		t.Fatalf("got %v", err)
	}
}

// The test below runs this one in its own process, and kills that.
func TestParent(t *testing.T) {
	if os.Getenv("HBLITE_TEST_PARENT") == "" {
		return
	}
	server := Start(t)
	_, _ = io.WriteString(os.Stdout, "\nserver "+server.ZooKeeper()+"\n")
	select {}
}

func TestNoServerIsLeftWhenItsParentIsKilled(t *testing.T) {
	parent := exec.Command(os.Args[0], "-test.run=^TestParent$")
	parent.Env = append(os.Environ(), "HBLITE_TEST_PARENT=1")
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var server string
	for lines := bufio.NewScanner(output); server == "" && lines.Scan(); {
		if address, found := strings.CutPrefix(lines.Text(), "server "); found {
			server = address
		}
	}
	if got := answer(t, server, "ruok"); got != "imok" {
		t.Fatalf("got %q from %s", got, server)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	// The server closes its connections when it ends, and its ports shortly afterwards.
	for late := time.Now().Add(10 * time.Second); time.Now().Before(late); {
		watch, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		_ = watch.SetDeadline(late)
		_, _ = io.ReadAll(watch)
		_ = watch.Close()
	}
	t.Fatal("the server still runs")
}
