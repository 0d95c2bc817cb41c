package platform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"devplatform/infra/local/resources"
)

// settleTime is the time without another change after which a build begins. Editors and git change several files at
// once.
const settleTime = 50 * time.Millisecond

// Watch builds the functions again when a file in the template's folder changes, and replaces the instances of the
// functions whose binary differs. The old code runs until the new code is built and starts. Files that changed after
// Open began to build are built immediately. Watch returns when ctx ends. It logs problems.
func (p *Platform) Watch(ctx context.Context) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		p.logger.Error("cannot watch the functions' code", "error", err)
		return
	}
	defer watcher.Close() //nolint:errcheck // nothing was written
	w := &watch{platform: p, watcher: watcher}
	if w.template, err = filepath.Abs(p.config.Template); err == nil {
		err = w.add(p.Stack.Dir)
	}
	if err != nil {
		p.logger.Error("cannot watch the functions' code", "error", err)
		return
	}
	p.logger.Debug("watching the functions' code")
	settled := time.NewTimer(settleTime)
	for {
		select {
		case <-ctx.Done():
			return
		case err := <-watcher.Errors:
			p.logger.Warn("watch the functions' code", "error", err)
		case event := <-watcher.Events:
			if w.note(event); w.isChanged {
				settled.Reset(settleTime)
			}
		case <-settled.C:
			if w.isChanged && p.rebuild(ctx) { // else the next change builds again
				w.isChanged = false
			}
		}
	}
}

// watch watches the folders of the project.
type watch struct {
	platform  *Platform
	watcher   *fsnotify.Watcher
	template  string // the absolute path of the template
	isChanged bool   // a file has changed since the last successful build
}

// isIgnored reports whether a file or folder does not belong to the functions' code.
func (w *watch) isIgnored(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "_test.go") || name == "node_modules" ||
		path == w.platform.config.DataDir
}

// add watches a folder and the folders in it, and notes files that were saved after the last build began.
func (w *watch) add(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was removed meanwhile
			return nil
		case err != nil:
			return err
		case path != root && w.isIgnored(path) && entry.IsDir():
			return filepath.SkipDir
		case entry.IsDir():
			if err := w.watcher.Add(path); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		case !w.isIgnored(path) && path != w.template:
			info, err := entry.Info()
			w.isChanged = w.isChanged || err == nil && info.ModTime().After(w.platform.functions.began)
		}
		return nil
	})
}

// note notes a change of a file.
func (w *watch) note(event fsnotify.Event) {
	switch {
	case event.Op == fsnotify.Chmod || w.isIgnored(event.Name):
	case event.Name == w.template:
		w.platform.logger.Warn("the template has changed: restart the platform to apply the change")
	default:
		w.isChanged = true
		if info, err := os.Stat(event.Name); err == nil && info.IsDir() {
			if err := w.add(event.Name); err != nil {
				w.platform.logger.Warn("watch the functions' code", "error", err)
			}
		}
	}
}

// rebuild builds the functions, and replaces the functions whose binary differs. It logs and reports whether that
// succeeded.
func (p *Platform) rebuild(ctx context.Context) bool {
	begin := now()
	names, err := p.replace(ctx)
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		p.logger.Error("the old code stays in use: " + err.Error())
	case len(names) > 0:
		p.logger.Info("replaced", "functions", strings.Join(names, ", "), "ms", now().Sub(begin).Milliseconds())
	}
	return err == nil
}

// replace builds the functions into another folder, so that a binary in use is replaced only by one that starts. It
// returns the names of the functions that were replaced.
func (p *Platform) replace(ctx context.Context) (names []string, err error) {
	current, next := p.functions.dir, p.functions.dir+".next"
	if err := errors.Join(os.RemoveAll(next), os.MkdirAll(next, 0o750)); err != nil {
		return nil, err
	}
	for _, f := range p.Stack.Functions { // the go command does not link again what is up to date
		err := os.Link(p.functions.binary(current, f), p.functions.binary(next, f))
		if err != nil && !errors.Is(err, fs.ErrExist) { // functions can share a binary
			return nil, err
		}
	}
	if err := p.functions.build(ctx, next, p.Stack.Functions); err != nil {
		return nil, err
	}
	var changed []resources.Function
	for _, f := range p.Stack.Functions {
		before, beforeErr := os.Stat(p.functions.binary(current, f))
		after, afterErr := os.Stat(p.functions.binary(next, f))
		if err := errors.Join(beforeErr, afterErr); err != nil {
			return nil, err
		}
		if !os.SameFile(before, after) {
			changed = append(changed, f)
		}
	}
	if err := p.checkFunctions(ctx, next, changed); err != nil {
		return nil, err
	}
	for _, f := range changed {
		err := os.Rename(p.functions.binary(next, f), p.functions.binary(current, f))
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // as above
			return names, fmt.Errorf("%s: %w", f.Name, err)
		}
		if err := p.runtime.Replace(f.Name); err != nil {
			return names, err
		}
		names = append(names, f.Name)
	}
	return names, nil
}
