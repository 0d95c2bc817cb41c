package blueprint

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What is made for Go passes vet and its own tests, each variant in a folder of one module.
func TestGoVariantsPassVetAndTheirTests(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	var folders []string
	write(t, filepath.Join(root, "go.mod"), "module example.com/app\n\ngo 1.24\n")
	for _, v := range variantsOf(Go, nil) {
		if v.spec.Kind == Test { // the same files, or a test of what is not there
			continue
		}
		r, err := Make(v.spec)
		if err != nil {
			t.Fatalf("%s: %v", v.name, err)
		}
		folder := strings.ToLower(v.name)
		folders = append(folders, folder)
		for _, file := range r.Files {
			write(t, filepath.Join(root, folder, filepath.FromSlash(file.Path)), file.Content)
		}
	}
	// Linking takes longest: all are vetted, and every fourth is tested.
	tests := []string{"test", "-vet=off"}
	for i := 0; i < len(folders); i += min(*stride, 4) {
		tests = append(tests, "./"+folders[i]+"/...")
	}
	for _, arguments := range [][]string{{"vet", "./..."}, tests} {
		command := exec.CommandContext(context.Background(), "go", arguments...)
		command.Dir = root
		command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off", "GOTOOLCHAIN=local")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", arguments, err, out)
		}
	}
}

// A test of Go code that was never seen fits what these blueprints make.
func TestGoTestOfAnExistingHandlerFitsWhatIsMade(t *testing.T) {
	t.Parallel()
	r, err := Make(Spec{Framework: Go, Kind: Test, Subject: Endpoint, Name: []string{"user"}, SubjectPath: "/internal/user/handler.go", Paths: []string{"/go.mod", "/internal/user/handler.go"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Files[0]; got.Path != "/internal/user/handler_test.go" || !strings.HasPrefix(got.Content, "package user\n") || !strings.Contains(got.Content, "/api/users") {
		t.Errorf("%s:\n%s", got.Path, got.Content)
	}
}
