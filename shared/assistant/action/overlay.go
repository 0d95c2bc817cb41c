package action

import (
	"context"
	"maps"
	"slices"
	"strings"

	"devplatform/shared/project/file"
	"devplatform/shared/project/path"
)

// overlay contains the stored files of a project, and the changes to them that are not stored yet.
type overlay struct {
	stored Files
	// changed contains the state of each changed path. order lists these paths in the order of their first change.
	changed map[string]state
	order   []string
}

// state is the state of a path after the changes.
type state struct {
	exists bool // whether a file exists at the path
	// origin is the stored path of a file whose content did not change. It is the old path if the file was renamed. If
	// origin is empty, the content is new and is in the field content.
	origin  string
	content string
}

// set sets the state of a path.
func (o *overlay) set(path string, s state) {
	if _, isChanged := o.changed[path]; !isChanged {
		o.order = append(o.order, path)
	}
	o.changed[path] = s
}

// at returns the state of a path after the changes.
func (o *overlay) at(ctx context.Context, path string) (state, error) {
	if s, ok := o.changed[path]; ok {
		return s, nil
	}
	_, exists, err := o.stored.Stat(ctx, path)
	if err != nil || !exists {
		return state{}, err
	}
	return state{exists: true, origin: path}, nil
}

// Text returns the content of a file, including the changes. It returns a *Problem if the file does not exist or is not
// text, or the error of the storage.
func (o *overlay) Text(ctx context.Context, path string) (string, error) {
	s, err := o.existingFile(ctx, path)
	if err != nil || s.origin == "" {
		return s.content, err
	}
	content, isText, err := o.stored.Read(ctx, s.origin)
	if err != nil || isText {
		return content, err
	}
	return "", problemf("%s is a binary file, or larger than 1 MiB: it can be deleted, renamed and replaced, but not edited.", path)
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
	if _, isFile, err := o.stored.Stat(ctx, folder); err != nil || isFile {
		return false, err
	}
	inside, err := o.stored.Inside(ctx, folder, removed+1)
	return slices.ContainsFunc(inside, func(p string) bool {
		_, isRemoved := o.changed[p]
		return !isRemoved
	}), err
}

// orProblem returns err if it is not nil. Otherwise it returns a problem with the formatted message.
func orProblem(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return problemf(format, args...)
}

// operations returns the operations that change the stored files, in the order in which the paths were first changed.
// Each path belongs to at most one operation. A file whose content did not change is renamed if storage has no file at
// its new path, and there is no file at its old path after the changes. Otherwise its content is written to the new
// path.
func (o *overlay) operations(ctx context.Context) (operations []file.Operation, err error) {
	changed, isRenamed := maps.Clone(o.changed), map[string]bool{} // by old path
	for _, p := range o.order {
		s := changed[p]
		if !s.exists || s.origin == "" || s.origin == p {
			continue
		}
		_, replaces, err := o.stored.Stat(ctx, p)
		if err != nil {
			return nil, err
		}
		if !replaces && !changed[s.origin].exists {
			isRenamed[s.origin] = true
			continue
		}
		content, isText, err := o.stored.Read(ctx, s.origin)
		if err != nil {
			return nil, err
		}
		if !isText {
			return nil, problemf("%s is a binary file, or larger than 1 MiB. One answer can't rename it to the path of another file, "+
				"and can't rename it and create a new file at its old path.", s.origin)
		}
		changed[p] = state{exists: true, content: content}
	}
	for _, p := range o.order {
		s, etagPath := changed[p], p
		if s.exists && s.origin != "" {
			etagPath = s.origin
		}
		etag, stored, err := o.stored.Stat(ctx, etagPath)
		if err != nil {
			return nil, err
		}
		op := file.Operation{Path: p, ETag: &etag}
		switch {
		case s.exists && s.origin == p, !s.exists && !stored, !s.exists && isRenamed[p]:
			continue
		case s.exists && s.origin != "":
			op.Action, op.Path, op.To = file.Rename, s.origin, p
		case s.exists && stored:
			op.Action, op.Content = file.Update, &s.content
		case s.exists:
			op.Action, op.Content, op.ETag = file.Create, &s.content, nil
		default:
			op.Action = file.Delete
		}
		operations = append(operations, op)
	}
	return operations, nil
}
