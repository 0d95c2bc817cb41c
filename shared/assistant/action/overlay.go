package action

import (
	"context"
	"slices"
	"strings"

	"devplatform/shared/project/path"
)

// overlay contains the stored files of a project, and the changes to them that are not stored yet.
type overlay struct {
	stored Files
	// known caches the result of reading each path from storage. Each path is read only once, so that all checks see the
	// same version of a file.
	known map[string]*storedFile
	// changed contains the state of each changed path. order lists these paths in the order of their first change.
	changed map[string]state
	order   []string
}

// storedFile is the result of reading a path from storage. The path may be a file or a folder, or may not exist.
type storedFile struct {
	File
	exists bool // whether a file exists at the path
	// isText and content are valid only if isRead is true.
	isRead, isText bool
	content        string
	// inside are the paths of some files inside the path, or of all of them if hasAll is true.
	inside []string
	hasAll bool
}

// state is the state of a path after the changes.
type state struct {
	exists bool // whether a file exists at the path
	// origin is the stored path of a file whose content did not change. It is the old path if the file was renamed. If
	// origin is empty, the content is new and is in the field content.
	origin  string
	content string
}

func newOverlay(stored Files) overlay {
	return overlay{stored: stored, known: map[string]*storedFile{}, changed: map[string]state{}}
}

// set sets the state of a path.
func (o *overlay) set(path string, s state) {
	if _, isChanged := o.changed[path]; !isChanged {
		o.order = append(o.order, path)
	}
	o.changed[path] = s
}

// prepare calls Files.Prepare once, with the paths that were not read and not changed.
func (o *overlay) prepare(ctx context.Context, paths ...string) error {
	var unknown []string
	for _, p := range paths {
		_, isKnown := o.known[p]
		if _, isChanged := o.changed[p]; !isKnown && !isChanged {
			unknown = append(unknown, p)
		}
	}
	if unknown == nil {
		return nil
	}
	return o.stored.Prepare(ctx, unknown...)
}

// file reads a path from storage, without its content. Storage is read only once for each path. If there is no file,
// the result has exists set to false.
func (o *overlay) file(ctx context.Context, path string) (*storedFile, error) {
	if known, ok := o.known[path]; ok {
		return known, nil
	}
	f, exists, err := o.stored.Stat(ctx, path)
	if err != nil {
		return nil, err
	}
	o.known[path] = &storedFile{File: f, exists: exists}
	return o.known[path], nil
}

// read is like file, but also reads the content if the file exists.
func (o *overlay) read(ctx context.Context, path string) (*storedFile, error) {
	f, err := o.file(ctx, path)
	if err != nil || f.isRead || !f.exists {
		return f, err
	}
	if f.content, f.isText, err = o.stored.Read(ctx, path); err != nil {
		return nil, err
	}
	f.isRead = true
	return f, nil
}

// at returns the state of a path after the changes.
func (o *overlay) at(ctx context.Context, path string) (state, error) {
	if s, ok := o.changed[path]; ok {
		return s, nil
	}
	f, err := o.file(ctx, path)
	if err != nil || !f.exists {
		return state{}, err
	}
	return state{exists: true, origin: path}, nil
}

// text returns the content of a file. It returns a problem if the file does not exist or is not text.
func (o *overlay) text(ctx context.Context, path string) (string, error) {
	s, err := o.existingFile(ctx, path)
	if err != nil || s.origin == "" {
		return s.content, err
	}
	f, err := o.read(ctx, s.origin)
	if err != nil {
		return "", err
	}
	if !f.isText {
		return "", problemf("%s is a binary file, or larger than 1 MiB: it can be deleted, renamed and replaced, but not edited.", path)
	}
	return f.content, nil
}

// existingFile returns the state of the file at a path. It returns a problem if there is no file.
func (o *overlay) existingFile(ctx context.Context, path string) (state, error) {
	s, err := o.at(ctx, path)
	if err != nil || s.exists {
		return s, err
	}
	if isFolder, err := o.isFolder(ctx, path); err != nil || isFolder {
		return s, orProblem(err, "%s is a folder. Only files can be changed.", path)
	}
	return s, problemf("The file %s does not exist.", path)
}

// checkFree returns a problem if no file can be created at the path: a file or a folder exists there, or one of the
// path's parent folders is a file.
func (o *overlay) checkFree(ctx context.Context, to string) error {
	s, err := o.at(ctx, to)
	if err != nil || s.exists {
		return orProblem(err, "The file %s already exists: "+
			"change it with edit_file or update_file, or choose another path.", to)
	}
	for _, folder := range path.Ancestors(to) {
		s, err := o.at(ctx, folder)
		if err != nil || s.exists {
			return orProblem(err, "%s is a file, so %s can't be inside it.", folder, to)
		}
	}
	if isFolder, err := o.isFolder(ctx, to); err != nil || isFolder {
		return orProblem(err, "%s is a folder: choose another path for the file.", to)
	}
	return nil
}

// isFolder reports whether there are files inside a path after the changes.
func (o *overlay) isFolder(ctx context.Context, folder string) (bool, error) {
	removed := 0 // files inside the folder
	for p, s := range o.changed {
		if !strings.HasPrefix(p, path.Inside(folder)) {
			continue
		}
		if s.exists {
			return true, nil
		}
		removed++
	}
	f, err := o.file(ctx, folder)
	if err != nil || f.exists {
		return false, err
	}
	if len(f.inside) <= removed && !f.hasAll {
		if f.inside, err = o.stored.Inside(ctx, folder, removed+1); err != nil {
			return false, err
		}
		f.hasAll = len(f.inside) <= removed
	}
	return slices.ContainsFunc(f.inside, func(p string) bool {
		_, isRemoved := o.changed[p]
		return !isRemoved
	}), nil
}

// orProblem returns err if it is not nil. Otherwise it returns a problem with the formatted message.
func orProblem(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return problemf(format, args...)
}
