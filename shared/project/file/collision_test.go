package file_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
	"devplatform/infra/testmode"
	"devplatform/shared/workspace"
)

// fileStep is a request that changes files.
type fileStep struct {
	name string
	do   func(filesClient) response
}

func saveStep(path string) fileStep {
	return fileStep{"save " + path, func(client filesClient) response { return client.Save(path, "x") }}
}

func removeStep(path string) fileStep {
	return fileStep{"remove " + path, func(client filesClient) response { return client.Remove(path) }}
}

func renameStep(from, to string) fileStep {
	return fileStep{"rename " + from + " to " + to, func(client filesClient) response {
		return client.Batch(renaming(from, to))
	}}
}

// Requests that run between the read and the write of another request never make a path both a file and a folder.
func TestCollisionsBetweenReadAndWrite(t *testing.T) {
	testmode.SkipIfShort(t)
	t.Parallel()
	initial := [][]string{nil, {"/s/p"}, {"/s/d"}, {"/s/d", "/s/p"}, {"/s/p/x"}}
	if !testmode.IsNightly() {
		initial = initial[2:4]
	}
	for _, files := range initial {
		var steps []fileStep
		var between [][]fileStep
		for _, path := range []string{"/s", "/s/d", "/s/p", "/s/p/x"} {
			save := saveStep(path)
			steps, between = append(steps, save), append(between, []fileStep{save})
			for _, file := range files {
				between = append(between, []fileStep{removeStep(file), save})
			}
		}
		for _, r := range [][2]string{{"/s/d", "/s/p"}, {"/s/d", "/s"}, {"/s/p", "/s/p/x"}} {
			if slices.Contains(files, r[0]) {
				steps, between = append(steps, renameStep(r[0], r[1])), append(between, []fileStep{renameStep(r[0], r[1])})
			}
		}
		var creations []object
		for _, path := range files {
			creations = append(creations, creation(path, "x"))
		}
		t.Run(strings.Join(files, ","), func(t *testing.T) {
			t.Parallel()
			f := projecttest.New(t)
			client := f.NewFilesClient("ada")
			wire := f.UseProxy(nil)
			for _, step := range steps {
				for _, others := range between {
					client.ProjectID = client.Project("", "App", workspace.Private)
					if creations != nil {
						client.Batch(creations...).Want(t, http.StatusOK)
					}
					var names []string
					wire.Before("TransactWriteItems", func() {
						for _, other := range others {
							names = append(names, other.name)
							other.do(client)
						}
					})
					r := step.do(client)
					if r.Status >= http.StatusInternalServerError {
						t.Errorf("%s, during which %v: got %d %s", step.name, names, r.Status, r.Raw)
					}
					wire.Clear()
					checkFolders(client, step.name+", during which "+strings.Join(names, ", "))
				}
			}
		})
	}
}

// checkFolders reports a test error if a path is both a file and a folder.
func checkFolders(client filesClient, name string) {
	client.Fixture.T.Helper()
	paths := client.Get(client.URL()).Want(client.Fixture.T, http.StatusOK).Texts("files", "path")
	for _, path := range paths {
		if slices.ContainsFunc(paths, func(other string) bool { return strings.HasPrefix(other, path+"/") }) {
			client.Fixture.T.Errorf("%s: got the files %v", name, paths)
		}
	}
}

// A file that is created in a folder does not conflict with other files that are created there at the same time.
func TestCreationsInOneFolderDoNotConflict(t *testing.T) {
	t.Parallel()
	f := projecttest.New(t)
	client := f.NewFilesClient("ada")
	client.Save("/src/first.ts", "").Want(t, http.StatusCreated)
	wire := f.UseProxy(nil)
	for _, tc := range []struct {
		path    string
		between fileStep
		calls   int64
	}{
		{"/src/a.ts", saveStep("/src/b.ts"), 5},
		{"/c.ts", saveStep("/d.ts"), 4}, // every path without a folder
		{"/src/e.ts", saveStep("/src/new/f.ts"), 10},
		{"/src/g.ts", removeStep("/src/b.ts"), 10},
		{"/other/h.ts", saveStep("/src/i.ts"), 10},
	} {
		wire.Before("TransactWriteItems", func() { tc.between.do(client) })
		if r := client.Save(tc.path, "").Want(t, http.StatusCreated); r.Calls != tc.calls {
			t.Errorf("%s, during which %s: got %d calls to DynamoDB, want %d", tc.path, tc.between.name, r.Calls, tc.calls)
		}
	}
	slicetest.Concurrently(16, func(i int) response {
		return client.Save("/src/many"+string(rune('a'+i))+".ts", "").Want(t, http.StatusCreated)
	})
	client.CheckTree()
}
