// Counts visits of pages in a store on disk, as visits.c does, with cgo.
//
//	go run . DIR PAGE...
//
// PKG_CONFIG_PATH names the folder of hblite.pc, unless pkg-config finds it.
package main

/*
#cgo pkg-config: hblite
#include <hblite.h>
*/
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

// bytes lends a string to a call. The pinner must be unpinned after the call.
func bytes(pinner *runtime.Pinner, text string) C.hblite_bytes {
	if text == "" {
		return C.hblite_bytes{}
	}
	data := unsafe.StringData(text)
	pinner.Pin(data)
	return C.hblite_bytes{data: unsafe.Pointer(data), size: C.size_t(len(text))}
}

// copied returns what belongs to a handle, so that it may be freed.
func copied(bytes C.hblite_bytes) []byte {
	return C.GoBytes(bytes.data, C.int(bytes.size))
}

// failure returns the error of a call. The struct was the call's own, so no thread is locked.
func failure(code C.hblite_code, err *C.hblite_error) error {
	if code == C.HBLITE_OK {
		return nil
	}
	return errors.New(C.GoString(&err.message[0]))
}

type visits struct {
	db    *C.hblite_db
	pages *C.hblite_table
}

func open(dir string) (*visits, error) {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	var v visits
	var err C.hblite_error
	if code := C.hblite_open(bytes(&pinner, dir), 0, &v.db, &err); code != C.HBLITE_OK {
		return nil, failure(code, &err)
	}
	if err := v.createTable(); err != nil {
		return nil, err
	}
	code := C.hblite_table_new(v.db, bytes(&pinner, "pages"), &v.pages, &err)
	return &v, failure(code, &err)
}

func (v *visits) createTable() error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	var err C.hblite_error
	var state C.hblite_state
	name := bytes(&pinner, "pages")
	code := C.hblite_table_state(v.db, name, &state, &err)
	if code != C.HBLITE_OK || state != C.HBLITE_STATE_MISSING {
		return failure(code, &err)
	}
	var schema *C.hblite_schema
	if code := C.hblite_schema_new(name, &schema, &err); code != C.HBLITE_OK {
		return failure(code, &err)
	}
	defer C.hblite_free(unsafe.Pointer(schema), nil)
	family := bytes(&pinner, "n")
	if code := C.hblite_schema_add_family(schema, family, 1, 0, &err); code != C.HBLITE_OK {
		return failure(code, &err)
	}
	return failure(C.hblite_create_table(v.db, schema, &err), &err)
}

func (v *visits) add(page string) error {
	var pinner runtime.Pinner
	defer pinner.Unpin()
	var err C.hblite_error
	family, qualifier := bytes(&pinner, "n"), bytes(&pinner, "visits")
	code := C.hblite_increment(v.pages, bytes(&pinner, page), family, qualifier, 1, nil, &err)
	return failure(code, &err)
}

func (v *visits) each(visit func(page string, visits uint64)) error {
	var err C.hblite_error
	var scanner *C.hblite_scanner
	if code := C.hblite_scan(v.pages, nil, &scanner, &err); code != C.HBLITE_OK {
		return failure(code, &err)
	}
	defer C.hblite_free(unsafe.Pointer(scanner), nil)
	for {
		var row *C.hblite_row
		if code := C.hblite_scanner_next(scanner, &row, &err); code != C.HBLITE_OK || row == nil {
			return failure(code, &err)
		}
		var cells *C.hblite_cell
		var count C.size_t
		code := C.hblite_row_cells(row, &cells, &count, &err)
		for _, cell := range unsafe.Slice(cells, count) {
			visit(string(copied(cell.row)), binary.BigEndian.Uint64(copied(cell.value)))
		}
		C.hblite_free(unsafe.Pointer(row), nil)
		if code != C.HBLITE_OK {
			return failure(code, &err)
		}
	}
}

func (v *visits) close() error {
	var err C.hblite_error
	C.hblite_free(unsafe.Pointer(v.pages), nil)
	return failure(C.hblite_close(v.db, &err), &err)
}

func run(dir string, pages []string) error {
	visits, err := open(dir)
	if err != nil {
		return err
	}
	for _, page := range pages {
		if err := visits.add(page); err != nil {
			return err
		}
	}
	print := func(page string, visits uint64) { fmt.Println(page, visits) }
	if err := visits.each(print); err != nil {
		return err
	}
	return visits.close()
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: visits DIR PAGE...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "visits:", err)
		os.Exit(1)
	}
}
