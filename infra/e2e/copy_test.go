package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
)

// checkout copies the project to a new folder, as git clone does, but including uncommitted changes. With -short, it
// skips the test.
func checkout(t testing.TB) string {
	t.Helper()
	testmode.SkipIfShort(t)
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = platformtest.Root
	files, err := list.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	dir := t.TempDir()
	for file := range strings.SplitSeq(strings.TrimRight(string(files), "\x00"), "\x00") {
		from, to := filepath.Join(platformtest.Root, file), filepath.Join(dir, file)
		info, err := os.Stat(from)
		if os.IsNotExist(err) {
			continue // deleted, but the deletion is not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// shell runs a shell script in a folder and returns its output.
func shell(t testing.TB, dir, script string, env ...string) string {
	t.Helper()
	command := exec.Command("sh", "-c", "set -e\n"+script)
	command.Dir = dir
	command.Env = append(os.Environ(), env...)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s\n%v\n%s", script, err, output)
	}
	return string(output)
}
