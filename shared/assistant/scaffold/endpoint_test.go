package scaffold

import (
	"bufio"
	"go/format"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"devplatform/infra/npmtest"
)

const endpointPrompt = "an endpoint for classes with name, price, in stock and description (optional)"

// TestExpressRuns starts the endpoint for Express and sends requests to it.
func TestExpressRuns(t *testing.T) {
	t.Parallel()
	modules := npmtest.Need(t, os.DirFS("testdata/npm"))
	folder := t.TempDir()
	files := ask(t, express, endpointPrompt)
	writeFiles(t, folder, append(files, file{"/main.mjs", `import express from "express"
		import { router } from ".` + files[0].path + `"
		const server = express().use("/classes", router).listen(0, "127.0.0.1", () => console.log(server.address().port))`}))
	if err := os.Symlink(filepath.Join(modules, "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	tryEndpoint(t, exec.CommandContext(t.Context(), "node", filepath.Join(folder, "main.mjs")))
}

// TestGoRuns builds the endpoint for Go and sends requests to it.
func TestGoRuns(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	files := ask(t, golang, endpointPrompt)
	if formatted, err := format.Source([]byte(files[0].content)); err != nil || string(formatted) != files[0].content {
		t.Errorf("error %v; the file is not formatted:\n%s", err, files[0].content)
	}
	writeFiles(t, folder, append(files, file{"/go.mod", "module app\n\ngo 1.24\n"}, file{"/main.go", `package main
		import ("app/classes"; "fmt"; "net"; "net/http")
		func main() {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil { panic(err) }
			fmt.Println(l.Addr().(*net.TCPAddr).Port)
			http.Handle("/classes/", http.StripPrefix("/classes", classes.New()))
			panic(http.Serve(l, nil))
		}`}))
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "main", ".")
	build.Dir, build.Env = folder, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tryEndpoint(t, exec.CommandContext(t.Context(), filepath.Join(folder, "main")))
}

// tryEndpoint starts a server, which prints its port, and uses all operations of its endpoint.
func tryEndpoint(t *testing.T, server *exec.Cmd) {
	t.Helper()
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	base := "http://127.0.0.1:" + strings.TrimSpace(port) + "/classes/"
	id := ""
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "", "", 200, `{"classes":[]}`},
		{"POST", "", `{"name":"Yoga","price":5,"inStock":true}`, 201, `"name":"Yoga"`},
		{"POST", "", `{"price":5,"inStock":true}`, 400, "name"},
		{"POST", "", `{"name":"Yoga","price":"5","inStock":true}`, 400, "error"},
		{"GET", "", "", 200, `"price":5`},
		{"GET", "ID", "", 200, `"inStock":true`},
		{"PUT", "ID", `{"name":"Judo","price":6,"inStock":false,"description":"Hard"}`, 200, `"description":"Hard"`},
		{"PUT", "unknown", `{"name":"Judo","price":6,"inStock":false}`, 404, "does not exist"},
		{"GET", "ID", "", 200, `"name":"Judo"`},
		{"DELETE", "ID", "", 204, ""},
		{"DELETE", "ID", "", 404, "does not exist"},
		{"GET", "", "", 200, `{"classes":[]}`},
	} {
		request, err := http.NewRequest(c.method, base+strings.ReplaceAll(c.path, "ID", id), strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != c.status || !strings.Contains(string(body), c.want) {
			t.Errorf("%s %s %s: got %s %s, want %d and %s", c.method, c.path, c.body, response.Status, body, c.status, c.want)
		}
		if response.StatusCode == http.StatusCreated {
			id = strings.Trim(strings.Split(strings.SplitAfter(string(body), `"id":`)[1], ",")[0], `"`)
		}
	}
}
