// Package hblitetest gives each Go test its own HBase: a server in memory that is ready in
// milliseconds.
//
//	func TestUsers(t *testing.T) {
//		server := hblitetest.Start(t)
//		client := gohbase.NewClient(server.ZooKeeper())
//
// A server ends with its test, and with the test process, however that ends.
package hblitetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sort"
	"strconv"
	"testing"
	"time"
)

// Options are how a server is started. The zero value is one region server with HBase's settings.
type Options struct {
	// Binary is the path of hblite; if empty, HBLITE_BIN or hblite on the PATH.
	Binary string
	// RegionServers is the number of region servers that clients see; 0 means 1.
	RegionServers int
	// Settings of the cluster by their names in hbase-site.xml.
	Settings map[string]string
	// Arguments are further options of `hblite serve`.
	Arguments []string
}

func (o Options) arguments() []string {
	servers := o.RegionServers
	if servers == 0 {
		servers = 1
	}
	arguments := []string{"serve", "--memory", "--zookeeper-port", "0", "--rpc-port", "0",
		"--region-servers", strconv.Itoa(servers), "--exit-with-parent", "--log", "errors"}
	names := make([]string, 0, len(o.Settings))
	for name := range o.Settings {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		arguments = append(arguments, "-D", name+"="+o.Settings[name])
	}
	return append(arguments, o.Arguments...)
}

// Server is a running hblite. Its methods may be called from any goroutine.
type Server struct {
	process *process
	ports   *ports
	stop    func()
}

// Start starts an empty server on free ports, which ends with the test. If the test fails, the
// server's log is printed.
func Start(t testing.TB) *Server {
	t.Helper()
	return StartWith(t, Options{})
}

// StartWith starts a server with options, as Start does.
func StartWith(t testing.TB, options Options) *Server {
	t.Helper()
	server, err := Launch(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		printLog(t, server)
		server.Stop()
	})
	return server
}

func printLog(t testing.TB, server *Server) {
	if log := server.Log(); t.Failed() && log != "" {
		t.Logf("log of hblite:\n%s", log)
	}
}

// Launch starts a server without a test, for TestMain. It runs until Stop, and at most as long as
// this process.
func Launch(options Options) (*Server, error) {
	binary, err := FindBinary(options.Binary)
	if err != nil {
		return nil, err
	}
	process, ports, err := launch(binary, options.arguments())
	if err != nil {
		return nil, err
	}
	return &Server{process: process, ports: ports, stop: process.end}, nil
}

// Stop ends the server. A second call does nothing.
func (s *Server) Stop() { s.stop() }

// Log returns the log of the server's process: the calls that it answered with an exception. A
// fork shares the log of its process.
func (s *Server) Log() string { return s.process.log.String() }

// ZooKeeper returns the address that gohbase.NewClient takes.
func (s *Server) ZooKeeper() string { return address(s.ports.ZooKeeper) }

// RPC returns the master's address, for clients that connect without ZooKeeper.
func (s *Server) RPC() string { return address(s.ports.RPC) }

// Thrift returns the address of Thrift 1, or "" without --thrift-port.
func (s *Server) Thrift() string { return gateway(s.ports.Thrift) }

// Thrift2 returns the address of Thrift 2, or "" without --thrift2-port.
func (s *Server) Thrift2() string { return gateway(s.ports.Thrift2) }

// REST returns the address of the REST gateway, or "" without --rest-port.
func (s *Server) REST() string { return gateway(s.ports.REST) }

// Console returns the console's URL for a browser, with the token that lets it make changes. A
// fork has none.
func (s *Server) Console() string { return s.ports.Console }

// URL returns the address of the admin endpoint.
func (s *Server) URL() string { return "http://" + address(s.ports.HTTP) }

// Configuration returns the settings that a client of HBase needs in its hbase-site.xml.
func (s *Server) Configuration() map[string]string {
	return map[string]string{
		"hbase.zookeeper.quorum":              "127.0.0.1",
		"hbase.zookeeper.property.clientPort": strconv.Itoa(s.ports.ZooKeeper),
	}
}

func gateway(port int) string {
	if port == 0 {
		return ""
	}
	return address(port)
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// A separate transport ignores the proxies of the environment: the server is on this machine.
var client = &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}

// Request sends a request to the admin endpoint. The body is sent as JSON unless it is nil; the
// JSON of the answer is stored in answer unless that is nil. A refusal is an error with the
// server's reason.
func (s *Server) Request(method, path string, body, answer any) error {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, s.URL()+path, content)
	if err != nil {
		return err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode >= 400 {
		return fmt.Errorf("%s %s: %s", method, path, reason(text))
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

func reason(body []byte) string {
	var refused struct{ Error string }
	if json.Unmarshal(body, &refused) == nil && refused.Error != "" {
		return refused.Error
	}
	return string(body)
}
