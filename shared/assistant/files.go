package assistant

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"devplatform/shared/assistant/conversation"
	"devplatform/shared/project/file"
	"devplatform/shared/project/path"
)

const (
	// maxListed is the maximum number of files that are listed for a prompt. One call lists them. If a project has more
	// files, the others are looked up by path.
	maxListed = 999
	// maxNamedFiles is the maximum number of files that are read because they are open in the editor, named in the
	// message, or changed by the previous answer.
	maxNamedFiles = 10
	// maxNamedBytes is the maximum total size of the files that are read, excluding the current file. Files of more than
	// 1 MiB are never read.
	maxNamedBytes = 1 << 20
)

// projectFiles caches the files of a project that were read for the prompt. If the check of an action needs another
// file, projectFiles reads it.
type projectFiles struct {
	view *file.View
	// known maps paths to the records that were read. If complete is true, known contains all files of the
	// project.
	known    map[string]file.File
	complete bool
	// lookedUp contains the paths that were looked up. If such a path is not in known, the file does not exist.
	lookedUp map[string]bool
	contents map[string][]byte // by path
	// inside contains what Inside has read, by folder.
	inside map[string]folderFiles
}

// folderFiles are the paths of some files inside a folder, or of all of them if complete is true.
type folderFiles struct {
	paths    []string
	complete bool
}

// listFiles lists the files of a project, in one call.
func listFiles(ctx context.Context, view *file.View) (*projectFiles, error) {
	listed, err := view.List(ctx, maxListed)
	if err != nil {
		return nil, err
	}
	f := &projectFiles{
		view: view, known: make(map[string]file.File, len(listed)), complete: len(listed) < maxListed,
		lookedUp: map[string]bool{}, contents: map[string][]byte{}, inside: map[string]folderFiles{},
	}
	for _, info := range listed {
		f.known[info.Path] = info
	}
	return f, nil
}

// Prepare implements action.Files. It reads the records of the paths that are not cached yet, in one call. If all of
// them are cached, it makes no call.
func (f *projectFiles) Prepare(ctx context.Context, paths ...string) error {
	var unknown []string
	for _, path := range paths {
		if _, ok := f.known[path]; !ok && !f.lookedUp[path] {
			unknown = append(unknown, path)
		}
	}
	if f.complete || unknown == nil {
		return nil
	}
	found, err := f.view.Stat(ctx, unknown...)
	if err != nil {
		return err
	}
	for _, path := range unknown {
		f.lookedUp[path] = true
	}
	maps.Copy(f.known, found)
	return nil
}

// Stat implements action.Files.
func (f *projectFiles) Stat(ctx context.Context, path string) (etag string, ok bool, err error) {
	if err := f.Prepare(ctx, path); err != nil {
		return "", false, err
	}
	info, ok := f.known[path]
	if !ok {
		return "", false, nil
	}
	return info.ETag(), true, nil
}

// Inside implements action.Files.
func (f *projectFiles) Inside(ctx context.Context, folder string, n int) ([]string, error) {
	var known []string
	for path := range f.known {
		if strings.HasPrefix(path, folder+"/") {
			known = append(known, path)
		}
	}
	if f.complete || len(known) >= n {
		return known, nil
	}
	if cached := f.inside[folder]; cached.complete || len(cached.paths) >= n {
		return cached.paths, nil
	}
	paths, err := f.view.Inside(ctx, folder, n)
	if err == nil {
		f.inside[folder] = folderFiles{paths: paths, complete: len(paths) < n}
	}
	return paths, err
}

// Read implements action.Files. It returns "" for a file that was deleted after it was listed. A change to such a file
// cannot be applied, because each change requires the ETag that its file had when it was listed. It does not read a
// file of more than 1 MiB, which is treated like a file that is not text.
func (f *projectFiles) Read(ctx context.Context, path string) (content string, text bool, err error) {
	if err := f.load(ctx, path); err != nil {
		return "", false, err
	}
	data := f.contents[path]
	return string(data), utf8.Valid(data) && !f.known[path].IsLarge(), nil
}

// load reads the contents of the files that exist and are not cached yet, in one call.
func (f *projectFiles) load(ctx context.Context, paths ...string) error {
	if err := f.Prepare(ctx, paths...); err != nil {
		return err
	}
	var missing []file.File
	for _, path := range paths {
		info, ok := f.known[path]
		if _, loaded := f.contents[path]; ok && !loaded {
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

// lastChanged returns the paths that the actions of the last answer changed. A message that names no file, such as "now
// make it green", is probably about them.
func lastChanged(turns []conversation.Turn) []string {
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
