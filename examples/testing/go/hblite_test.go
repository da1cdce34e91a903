package hblitetest

import (
	"io"
	"net"
	"testing"
)

func TestItAnswers(t *testing.T) {
	server := Start(t)
	connection, err := net.Dial("tcp", server.ZooKeeper())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := connection.Write([]byte("ruok")); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(connection)
	if err != nil || string(answer) != "imok" {
		t.Fatalf("got %q, %v", answer, err)
	}
}
