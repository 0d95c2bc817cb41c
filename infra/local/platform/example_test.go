package platform_test

import (
	"io"
	"net/http"
	"testing"

	"devplatform/infra/local/platform"
)

const template = "../stack/testdata/sam-init/template.yaml"

// A test opens a platform in three lines. This one runs the template of `sam init` for Go as it is, whose function has
// a go.mod of its own.
func TestOpen(t *testing.T) {
	t.Parallel()
	p, err := platform.Open(t.Context(), platform.Config{Template: template, DataDir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { must(t, p.Close()) })

	response, err := http.Get(p.URL + "/hello")
	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	if string(body) != "Hello, 127.0.0.1!\n" && string(body) != "Hello, ::1!\n" {
		t.Errorf("got %q", body)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
