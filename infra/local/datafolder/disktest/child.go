package disktest

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"devplatform/infra/local/datafolder"
)

// childVariable is the environment variable of a child process with its data folder.
const childVariable = "DEVPLATFORM_TEST_CHILD"

// ServeChild serves a service until the process is killed, if the process is one that StartChild started. open opens
// the service in a folder. TestMain calls ServeChild first.
func ServeChild(open func(folder *datafolder.Folder) (http.Handler, error)) {
	dir := os.Getenv(childVariable)
	if dir == "" {
		return
	}
	folder, err := datafolder.Open(datafolder.Options{Dir: dir})
	var service http.Handler
	if err == nil {
		service, err = open(folder)
	}
	if err != nil {
		_, _ = fmt.Fprintln(os.Stdout, err)
		os.Exit(1)
	}
	_, _ = fmt.Fprintln(os.Stdout, httptest.NewServer(service).URL)
	select {}
}

// StartChild starts the test binary as a process that serves the service in a folder, and returns its URL. The test can
// kill the process. It does not outlive the test.
func StartChild(t testing.TB, dir string) (child *exec.Cmd, url string) {
	t.Helper()
	child = exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this test binary
	child.Env = append(os.Environ(), childVariable+"="+dir)
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "http://") {
		t.Fatal(line, err)
	}
	return child, strings.TrimSpace(line)
}
