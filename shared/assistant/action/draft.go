package action

import (
	"context"
	"maps"

	"devplatform/shared/project/file"
	"devplatform/shared/project/path"
)

// Draft is a view of a project's files that includes the changes of the applied actions. The stored files do not
// change. A Draft is not safe for concurrent use.
//
// Failure policy: an action that is not possible changes nothing and has no effect on the next action. A Draft does not
// detect concurrent changes of the stored files. The batch of operations detects them when it is executed, because its
// operations contain the ETags of the files.
type Draft struct {
	stored Files
	// changed contains the state of each changed path. order lists these paths in the order of their first change.
	changed map[string]state
	order   []string
	actions []Action
	batch   []file.Operation
}

// state is the state of a path after the changes.
type state struct {
	exists bool // whether a file exists at the path
	// origin is the stored path of a file whose content did not change. It is the old path if the file was renamed. If
	// origin is empty, the content is new and is in the field content.
	origin  string
	content string
}

// NewDraft returns a draft of the stored files without changes.
func NewDraft(stored Files) *Draft {
	return &Draft{stored: stored, changed: map[string]state{}}
}

// Actions returns the applied actions in order. The search and replacement texts of an edit have CR LF line endings if
// the file has them. A package without a range has the range that the manifest has after the action.
func (d *Draft) Actions() []Action { return d.actions }

// Operations returns the batch of operations that has the same effect as all actions. No path occurs twice. The batch
// includes a file that was overwritten with the same content, so that its version is checked. It does not include a
// file that was renamed and then renamed back. All operations except create have the ETag of the version that the
// actions were checked against.
func (d *Draft) Operations() []file.Operation { return d.batch }

// Apply checks an action against the draft and applies it. It returns a *Problem if the action is not possible, or the
// error of the storage. In both cases the draft does not change.
func (d *Draft) Apply(ctx context.Context, a Action) (err error) {
	if len(d.actions) == MaxPerAnswer {
		return problemf("An answer can have at most %d actions. This action exceeds the limit.", MaxPerAnswer)
	}
	if err := checkPath("path", a.Path, path.Check); err != nil {
		return err
	}
	changed, order := maps.Clone(d.changed), len(d.order)
	defer func() {
		if err != nil {
			d.changed, d.order = changed, d.order[:order]
		}
	}()
	switch a.Type {
	case CreateFile:
		err = d.create(&a)
	case UpdateFile:
		if _, err = d.existingFile(a.Path); err == nil {
			err = d.setText(a.Path, a.Content)
		}
	case EditFile:
		err = d.edit(ctx, &a) // may convert the line endings of the texts
	case DeleteFile:
		if _, err = d.existingFile(a.Path); err == nil {
			d.set(a.Path, state{})
		}
	case RenameFile:
		err = d.rename(&a)
	case AddDependency:
		err = d.addDependency(ctx, &a) // may add ranges to the packages
	default:
		err = problemf("There is no action %s.", shortQuote(string(a.Type)))
	}
	if err != nil {
		return err
	}
	operations, err := d.operations(ctx)
	if err != nil {
		return err
	}
	if rules := file.CheckLimits(operations); len(rules) > 0 {
		return problemf("This action exceeds a limit: the changes of an answer %s.", rules[0])
	}
	d.actions, d.batch = append(d.actions, a), operations
	return nil
}

// operations returns the operations that change the stored files, in the order in which the paths were first changed.
// Each path belongs to at most one operation. A file whose content did not change is renamed if storage has no file at
// its new path, and there is no file at its old path after the changes. Otherwise its content is written to the new
// path.
func (d *Draft) operations(ctx context.Context) (operations []file.Operation, err error) {
	changed, isRenamed := maps.Clone(d.changed), map[string]bool{} // by old path
	for _, p := range d.order {
		s := changed[p]
		if !s.exists || s.origin == "" || s.origin == p {
			continue
		}
		if _, replaces := d.stored.Stat(p); !replaces && !changed[s.origin].exists {
			isRenamed[s.origin] = true
			continue
		}
		content, isText, err := d.stored.Read(ctx, s.origin)
		if err != nil {
			return nil, err
		}
		if !isText {
			return nil, problemf("%s is a binary file, or larger than 1 MiB. One answer can't rename it to the path of "+
				"another file, and can't rename it and create a new file at its old path.", s.origin)
		}
		changed[p] = state{exists: true, content: content}
	}
	for _, p := range d.order {
		s, etagPath := changed[p], p
		if s.exists && s.origin != "" {
			etagPath = s.origin
		}
		etag, isStored := d.stored.Stat(etagPath)
		op := file.Operation{Path: p, ETag: &etag}
		switch {
		case s.exists && s.origin == p, !s.exists && !isStored, !s.exists && isRenamed[p]:
			continue
		case s.exists && s.origin != "":
			op.Action, op.Path, op.To = file.Rename, s.origin, p
		case s.exists && isStored:
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
