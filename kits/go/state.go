package hblitetest

import (
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Checkpoint stores the present state of all tables under a name, and replaces an earlier one.
func (s *Server) Checkpoint(name string) error {
	return s.Request("POST", "/checkpoints", map[string]string{"name": name}, nil)
}

// Rewind returns all tables to a checkpoint. Clients stay connected; scanners that are open end
// with an error.
func (s *Server) Rewind(checkpoint string) error {
	path := "/checkpoints/" + url.PathEscape(checkpoint) + "/rewind"
	return s.Request("POST", path, struct{}{}, nil)
}

// DeleteCheckpoint forgets a checkpoint.
func (s *Server) DeleteCheckpoint(name string) error {
	return s.Request("DELETE", "/checkpoints/"+url.PathEscape(name), nil, nil)
}

// NewFork starts an independent server, with its own ports, in the state of a checkpoint. It
// ends with Stop, or with s.
func (s *Server) NewFork(checkpoint string) (*Server, error) {
	var fork struct {
		ID uint64 `json:"id"`
		ports
	}
	body := map[string]string{"checkpoint": checkpoint}
	if err := s.Request("POST", "/forks", body, &fork); err != nil {
		return nil, err
	}
	stop := sync.OnceFunc(func() {
		_ = s.Request("DELETE", "/forks/"+strconv.FormatUint(fork.ID, 10), nil, nil)
	})
	return &Server{process: s.process, ports: &fork.ports, stop: stop}, nil
}

// Fork starts a fork that ends with the test: for tests with t.Parallel, which then share nothing.
func (s *Server) Fork(t testing.TB, checkpoint string) *Server {
	t.Helper()
	fork, err := s.NewFork(checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		printLog(t, fork)
		fork.Stop()
	})
	return fork
}

type clock struct {
	NowMs int64 `json:"now_ms"`
}

// Now is the server's time: timestamps, times to live and scanner leases follow it. It
// is the real time until StopClock or RunClock; then the clock can be set and advanced.
func (s *Server) Now() (time.Time, error) {
	var now clock
	err := s.Request("GET", "/clock", nil, &now)
	return time.UnixMilli(now.NowMs), err
}

// StopClock stops the clock at its present time; from then on it moves only on request.
func (s *Server) StopClock() error { return s.setClock("mode", "manual") }

// RunClock restarts the clock at its present time, independent of the real time.
func (s *Server) RunClock() error { return s.setClock("mode", "offset") }

// ResetClock sets the clock to the real time.
func (s *Server) ResetClock() error { return s.setClock("mode", "real") }

// SetClock sets the time. The server refuses to set it back while scanners are open.
func (s *Server) SetClock(now time.Time) error { return s.setClock("now_ms", now.UnixMilli()) }

// AdvanceClock moves the clock forward.
func (s *Server) AdvanceClock(by time.Duration) error {
	return s.setClock("advance_ms", by.Milliseconds())
}

func (s *Server) setClock(name string, value any) error {
	return s.Request("POST", "/clock", map[string]any{name: value}, nil)
}
