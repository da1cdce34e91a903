// Package orders shows tests with hblite. They look at the cluster through the admin endpoint; with
// gohbase, connect to server.ZooKeeper().
package orders

import (
	"fmt"
	"testing"

	"hblite.example/hblitetest"
)

func TestInParallel(t *testing.T) {
	server := hblitetest.StartWith(t, hblitetest.Options{RegionServers: 2})
	// Create tables here; every subtest begins with them.
	if err := server.Checkpoint("base"); err != nil {
		t.Fatal(err)
	}
	for number := 0; number < 8; number++ {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			t.Parallel()
			fork := server.Fork(t, "base")
			var status struct{ Servers []any }
			if err := fork.Request("GET", "/status", nil, &status); err != nil {
				t.Fatal(err)
			}
			if len(status.Servers) != 2 {
				t.Fatalf("got %v", status)
			}
		})
	}
}
