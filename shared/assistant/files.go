package assistant

import (
	"context"
	"iter"
	"maps"
	"slices"
	"unicode/utf8"

	"devplatform/shared/assistant/conversation"
	"devplatform/shared/project/file"
	"devplatform/shared/project/path"
)

const (
	// maxNamedFiles is the maximum number of files that are read for the prompt because they are open in the editor,
	// named in the message, or changed by the previous answer.
	maxNamedFiles = 10
	// maxNamedBytes is the maximum total size of the files that are read for the prompt, excluding the current file. Files
	// of more than 1 MiB are never read.
	maxNamedBytes = 1 << 20
)

// projectFiles are the files of a project as they were listed for the prompt, and the contents that were read.
type projectFiles struct {
	view     *file.View
	known    map[string]file.File // by path
	contents map[string][]byte    // by path
}

func newProjectFiles(view *file.View, listed []file.File) *projectFiles {
	f := &projectFiles{view: view, known: make(map[string]file.File, len(listed)), contents: map[string][]byte{}}
	for _, info := range listed {
		f.known[info.Path] = info
	}
	return f
}

// Paths implements action.Files.
func (f *projectFiles) Paths() iter.Seq[string] { return maps.Keys(f.known) }

// Stat implements action.Files.
func (f *projectFiles) Stat(path string) (etag string, ok bool) {
	info, ok := f.known[path]
	if !ok {
		return "", false
	}
	return info.ETag(), true
}

// Read implements action.Files. It returns "" for a file that was deleted after it was listed. A change to such a file
// cannot be applied, because each change requires the ETag that its file had when it was listed. It does not read a
// file of more than 1 MiB, which is treated like a file that is not text.
func (f *projectFiles) Read(ctx context.Context, path string) (content string, isText bool, err error) {
	if err := f.load(ctx, path); err != nil {
		return "", false, err
	}
	data := f.contents[path]
	return string(data), utf8.Valid(data) && !f.known[path].IsLarge(), nil
}

// load reads the contents of the files that exist and were not read yet, in one call.
func (f *projectFiles) load(ctx context.Context, paths ...string) error {
	var missing []file.File
	for _, path := range paths {
		info, ok := f.known[path]
		if _, isLoaded := f.contents[path]; ok && !isLoaded {
			missing = append(missing, info)
		}
	}
	read, err := f.view.Read(ctx, missing...)
	if err != nil {
		return err
	}
	maps.Copy(f.contents, read)
	return nil
}

// lastChangedPaths returns the paths that the actions of the last answer changed. A message that names no file, such as
// "now make it green", is probably about them.
func lastChangedPaths(turns []conversation.Turn) []string {
	var paths []string
	if len(turns) == 0 {
		return nil
	}
	for _, a := range turns[len(turns)-1].Answer.Actions {
		if a.To != nil {
			a.Path = *a.To
		}
		if !slices.Contains(paths, a.Path) {
			paths = append(paths, a.Path)
		}
	}
	return paths
}

// manifests returns the paths of the manifests (package.json and go.mod) in the nearest folder that has a manifest. It
// searches the folders that contain the current file, the innermost first.
func manifests(known map[string]file.File, current string) []string {
	folders := append([]string{""}, path.Ancestors(current)...)
	for _, folder := range slices.Backward(folders) {
		var found []string
		for _, name := range []string{"/package.json", "/go.mod"} {
			if _, ok := known[folder+name]; ok {
				found = append(found, folder+name)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}
