package hblitetest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	logBytesMax = 1 << 20
	startMax    = 30 * time.Second
	stopMax     = 10 * time.Second
)

// ports is the ready line of a server.
type ports struct {
	ZooKeeper     int    `json:"zookeeper_port"`
	RPC           int    `json:"rpc_port"`
	RegionServers []int  `json:"region_server_ports"`
	HTTP          int    `json:"http_port"`
	Thrift        int    `json:"thrift_port"`
	Thrift2       int    `json:"thrift2_port"`
	REST          int    `json:"rest_port"`
	Console       string `json:"console_url"`
}

// process is the operating system's side of a server: pipes, log, end.
type process struct {
	command *exec.Cmd
	input   io.Closer
	log     logBuffer
	stop    sync.Once
}

// launch starts a server and waits for its ready line.
func launch(binary string, arguments []string) (*process, *ports, error) {
	p := &process{command: exec.Command(binary, arguments...)}
	p.command.Stderr = &p.log
	input, err := p.command.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	p.input = input
	output, err := p.command.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, nil, fmt.Errorf("cannot execute %s: %w", binary, err)
	}
	late := time.AfterFunc(startMax, func() { _ = p.command.Process.Kill() })
	reader := bufio.NewReader(output)
	line, readErr := reader.ReadBytes('\n')
	late.Stop()
	ready := new(ports)
	if readErr != nil || json.Unmarshal(line, ready) != nil {
		p.end()
		return nil, nil, fmt.Errorf("%s did not start: %s", p.command, p.log.String())
	}
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	return p, ready, nil
}

// end closes the server's input, which ends it on every platform. A second call does nothing.
func (p *process) end() {
	p.stop.Do(func() {
		_ = p.input.Close()
		late := time.AfterFunc(stopMax, func() { _ = p.command.Process.Kill() })
		defer late.Stop()
		_ = p.command.Wait()
	})
}

// logBuffer keeps the end of what is written to it. Safe for concurrent use.
type logBuffer struct {
	lock sync.Mutex
	text []byte
}

func (l *logBuffer) Write(bytes []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.text = append(l.text, bytes...)
	if excess := len(l.text) - logBytesMax; excess > 0 {
		l.text = append(l.text[:0], l.text[excess:]...)
	}
	return len(bytes), nil
}

func (l *logBuffer) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return strings.TrimSpace(string(l.text))
}
