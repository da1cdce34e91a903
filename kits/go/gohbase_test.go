//go:build gohbase

// With gohbase: go get github.com/tsuna/gohbase && go test -tags gohbase

package hblitetest

import (
	"context"
	"testing"

	"github.com/tsuna/gohbase"
	"github.com/tsuna/gohbase/hrpc"
)

func TestGohbase(t *testing.T) {
	server := Start(t)
	ctx := context.Background()
	admin := gohbase.NewAdminClient(server.ZooKeeper())
	families := map[string]map[string]string{"f": nil}
	if err := admin.CreateTable(hrpc.NewCreateTable(ctx, []byte("t"), families)); err != nil {
		t.Fatal(err)
	}
	client := gohbase.NewClient(server.ZooKeeper())
	defer client.Close()
	values := map[string]map[string][]byte{"f": {"q": []byte("v")}}
	put, err := hrpc.NewPutStr(ctx, "t", "r", values)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(put); err != nil {
		t.Fatal(err)
	}
	get, err := hrpc.NewGetStr(ctx, "t", "r")
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Get(get)
	if err != nil || len(got.Cells) != 1 || string(got.Cells[0].Value) != "v" {
		t.Fatalf("got %v, %v", got, err)
	}
}
