package assistant

import (
	"context"
	"maps"
	"strings"
	"unicode/utf8"

	"devplatform/shared/assistant/action"
	"devplatform/shared/project/file"
)

// listedFiles is how many of a project's files are looked at for a prompt: one call's worth, with the one that tells of more. Of a
// larger project, files are still found by their paths.
const listedFiles = 999

// projectFiles is a project as the checks of actions see it: what was read for the prompt, and what they ask for beside that.
type projectFiles struct {
	view *file.View
	// known are the records that were read, by path; all of the project's if complete.
	known    map[string]file.File
	complete bool
	// absent are paths that were looked for and are none of a file.
	absent   map[string]bool
	contents map[string][]byte
}

// readFiles lists a project's files.
func readFiles(ctx context.Context, view *file.View) (*projectFiles, error) {
	listed, err := view.List(ctx, listedFiles)
	if err != nil {
		return nil, err
	}
	f := &projectFiles{view: view, known: make(map[string]file.File, len(listed)), absent: map[string]bool{}, contents: map[string][]byte{}}
	for _, info := range listed {
		f.known[info.Path] = info
	}
	f.complete = len(listed) < listedFiles
	return f, nil
}

// Prepare implements action.Files: it reads the records of those of the paths that are not known, in one call if there are any.
func (f *projectFiles) Prepare(ctx context.Context, paths ...string) error {
	var unknown []string
	for _, path := range paths {
		if _, ok := f.known[path]; !ok && !f.absent[path] {
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
		f.absent[path] = true // unless it was found: what is known goes first
	}
	maps.Copy(f.known, found)
	return nil
}

// Stat implements action.Files.
func (f *projectFiles) Stat(ctx context.Context, path string) (action.File, bool, error) {
	if err := f.Prepare(ctx, path); err != nil {
		return action.File{}, false, err
	}
	info, ok := f.known[path]
	return action.File{ETag: info.ETag()}, ok, nil
}

// HasInside implements action.Files.
func (f *projectFiles) HasInside(ctx context.Context, path string) (bool, error) {
	for known := range f.known {
		if strings.HasPrefix(known, path+"/") {
			return true, nil
		}
	}
	if f.complete {
		return false, nil
	}
	return f.view.HasInside(ctx, path)
}

// Read implements action.Files. A file that has gone since it was listed is empty: the batch's precondition will tell.
func (f *projectFiles) Read(ctx context.Context, path string) (content string, text bool, err error) {
	if err := f.load(ctx, path); err != nil {
		return "", false, err
	}
	data := f.contents[path]
	return string(data), utf8.Valid(data), nil
}

// load reads the contents of those of the paths that exist, in one call for all.
func (f *projectFiles) load(ctx context.Context, paths ...string) error {
	if err := f.Prepare(ctx, paths...); err != nil {
		return err
	}
	var wanted []file.File
	for _, path := range paths {
		info, ok := f.known[path]
		if _, loaded := f.contents[path]; ok && !loaded {
			wanted = append(wanted, info)
		}
	}
	read, err := f.view.Read(ctx, wanted...)
	if err != nil {
		return err
	}
	maps.Copy(f.contents, read)
	return nil
}
