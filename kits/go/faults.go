package hblitetest

import "fmt"

// Fault is a fault on demand; docs/faults.md of hblite describes the fields.
type Fault struct {
	Error   string   `json:"error,omitempty"`
	Drop    string   `json:"drop,omitempty"`
	DelayMs any      `json:"delay_ms,omitempty"`
	Methods []string `json:"methods,omitempty"`
	Tables  []string `json:"tables,omitempty"`
	Regions []string `json:"regions,omitempty"`
	Servers []any    `json:"servers,omitempty"`
	Rate    float64  `json:"rate,omitempty"`
	Skip    uint64   `json:"skip,omitempty"`
	Count   uint64   `json:"count,omitempty"`
	Seed    uint64   `json:"seed,omitempty"`
}

// FaultStatus is an active fault.
type FaultStatus struct {
	ID       uint64 `json:"id"`
	Seen     uint64 `json:"seen"`
	Happened uint64 `json:"happened"`
}

// SetFault sets a fault and returns the number to clear it with.
func (s *Server) SetFault(fault Fault) (uint64, error) {
	var set FaultStatus
	err := s.Request("POST", "/faults", fault, &set)
	return set.ID, err
}

// Faults lists the active faults.
func (s *Server) Faults() ([]FaultStatus, error) {
	var faults []FaultStatus
	err := s.Request("GET", "/faults", nil, &faults)
	return faults, err
}

// ClearFault clears one fault.
func (s *Server) ClearFault(id uint64) error {
	return s.Request("DELETE", fmt.Sprintf("/faults/%d", id), nil, nil)
}

// ClearFaults clears all faults.
func (s *Server) ClearFaults() error { return s.Request("DELETE", "/faults", nil, nil) }

// Crash crashes a region server, by number from 0. Its regions stay out of service until the
// server is restarted.
func (s *Server) Crash(server int) error {
	return s.Request("POST", fmt.Sprintf("/servers/%d/crash", server), struct{}{}, nil)
}

// Restart brings a crashed region server back on its port.
func (s *Server) Restart(server int) error {
	return s.Request("POST", fmt.Sprintf("/servers/%d/restart", server), struct{}{}, nil)
}
