package hblitetest

import (
	"fmt"
	"os"
	"os/exec"
)

// FindBinary returns the path of the hblite binary: path if it is not empty, or else the value of
// HBLITE_BIN, or else hblite on the PATH. kits/README.md describes the order for all kits.
func FindBinary(path string) (string, error) {
	if path != "" {
		return executable(path, "the given path")
	}
	if fromEnvironment := os.Getenv("HBLITE_BIN"); fromEnvironment != "" {
		return executable(fromEnvironment, "HBLITE_BIN")
	}
	onPath, err := exec.LookPath("hblite")
	if err != nil {
		return "", fmt.Errorf(
			"no hblite binary found: HBLITE_BIN is not set, and there is no hblite on the PATH: %w", err)
	}
	return onPath, nil
}

func executable(path, origin string) (string, error) {
	information, err := os.Stat(path)
	if err != nil || information.IsDir() {
		return "", fmt.Errorf("%s (from %s) is not a file", path, origin)
	}
	if _, err := exec.LookPath(path); err != nil {
		return "", fmt.Errorf("%s (from %s) may not be executed: run `chmod +x` on it, and if it is"+
			" on a file system mounted with noexec, copy it elsewhere and set HBLITE_BIN: %w",
			path, origin, err)
	}
	return path, nil
}
