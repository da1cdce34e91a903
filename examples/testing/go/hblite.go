// Package hblitetest gives Go tests an HBase of their own.
package hblitetest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Server is a running hblite; it ends with its test.
type Server struct {
	ZooKeeperPort int `json:"zookeeper_port"`
	RPCPort       int `json:"rpc_port"`
}

// ZooKeeper is the address that gohbase.NewClient wants.
func (s *Server) ZooKeeper() string {
	return fmt.Sprintf("127.0.0.1:%d", s.ZooKeeperPort)
}

// Start starts an empty server on free ports. The command is hblite, or what HBLITE names.
func Start(t testing.TB) *Server {
	t.Helper()
	command := os.Getenv("HBLITE")
	if command == "" {
		command = "hblite"
	}
	process := exec.Command(command, "serve", "--memory", "--zookeeper-port", "0", "--rpc-port", "0")
	process.Stderr = os.Stderr
	output, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Signal(os.Interrupt)
		_ = process.Wait()
	})
	// The line comes when all ports are open.
	ready, err := bufio.NewReader(output).ReadBytes('\n')
	if err != nil {
		t.Fatalf("%s did not start: %v", command, err)
	}
	server := new(Server)
	if err := json.Unmarshal(ready, server); err != nil {
		t.Fatalf("%s said %q: %v", command, ready, err)
	}
	return server
}
