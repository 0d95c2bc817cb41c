package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"devplatform/infra/local/resources"
)

// settleTime is the time without another change after which a build begins. Editors and git change several files at
// once.
const settleTime = 50 * time.Millisecond

// Watch builds functions again when their code changes, and replaces their instances. The old code runs until the new
// code is built and starts. Functions whose code changed after Open began to build are built again immediately. Watch
// returns when ctx ends. It logs problems.
func (p *Platform) Watch(ctx context.Context) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		p.logger.Error("cannot watch the functions' code", "error", err)
		return
	}
	defer watcher.Close() //nolint:errcheck // nothing was written
	w := &watch{platform: p, watcher: watcher}
	if w.template, err = filepath.Abs(p.config.Template); err == nil {
		err = w.refresh(ctx)
	}
	if err != nil {
		p.logger.Error("cannot watch the functions' code", "error", err)
		return
	}
	p.logger.Debug("watching the functions' code")
	changed := map[string]resources.Function{} // by name
	w.noteSaved(p.functions.began, changed)
	settled := time.NewTimer(settleTime)
	for {
		select {
		case <-ctx.Done():
			return
		case err := <-watcher.Errors:
			p.logger.Warn("watch the functions' code", "error", err)
		case event := <-watcher.Events:
			w.note(event, changed)
			if len(changed) > 0 {
				settled.Reset(settleTime)
			}
		case <-settled.C:
			if len(changed) == 0 { // no file was saved before the timer's first tick
				continue
			}
			isReplaced := w.replace(ctx, slices.SortedFunc(maps.Values(changed), func(a, b resources.Function) int {
				return strings.Compare(a.Name, b.Name)
			}))
			if isReplaced { // else the next change builds these functions, too
				clear(changed)
			}
		}
	}
}

// watch watches the folders of the functions' packages.
type watch struct {
	platform *Platform
	watcher  *fsnotify.Watcher
	template string                          // the absolute path of the template
	users    map[string][]resources.Function // by key (see watchKeys): the functions that use the file
}

// refresh finds out which folders the functions use, and watches them.
func (w *watch) refresh(ctx context.Context) error {
	users, err := w.platform.functions.users(ctx)
	if err != nil {
		return err
	}
	folders := map[string]bool{filepath.Dir(w.template): true}
	for file := range users {
		folders[filepath.Dir(file)] = true
	}
	for folder := range folders {
		if err := w.watcher.Add(folder); err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	w.users = users
	return nil
}

// note adds the functions that use a changed file.
func (w *watch) note(event fsnotify.Event, changed map[string]resources.Function) {
	name := filepath.Base(event.Name)
	if event.Op == fsnotify.Chmod || strings.HasPrefix(name, ".") || strings.HasSuffix(name, "_test.go") {
		return
	}
	if event.Name == w.template {
		w.platform.logger.Warn("the template has changed: restart the platform to apply the change")
		return
	}
	for _, key := range watchKeys(event.Name) {
		for _, f := range w.users[key] {
			changed[f.Name] = f
		}
	}
}

// noteSaved adds the functions that use a file that was saved after a time.
func (w *watch) noteSaved(after time.Time, changed map[string]resources.Function) {
	folders := map[string]bool{}
	for key := range w.users {
		folders[filepath.Dir(key)] = true
	}
	for folder := range folders {
		files, _ := os.ReadDir(folder) // it may have been removed
		for _, file := range files {
			path := filepath.Join(folder, file.Name())
			if info, err := os.Stat(path); err == nil && info.ModTime().After(after) {
				w.note(fsnotify.Event{Name: path, Op: fsnotify.Write}, changed)
			}
		}
	}
}

// watchKeys returns the keys of a file: its path, DIR/*.go for a Go file, because new files belong to the package, and
// DIR/*, because new files in an embedded folder are embedded.
func watchKeys(path string) []string {
	folder := filepath.Dir(path)
	keys := []string{path, filepath.Join(folder, "*")}
	if filepath.Ext(path) == ".go" {
		keys = append(keys, filepath.Join(folder, "*.go"))
	}
	return keys
}

// replace builds functions, checks that they start, and replaces their instances. It reports whether that succeeded.
func (w *watch) replace(ctx context.Context, all []resources.Function) bool {
	names := make([]string, 0, len(all))
	for _, f := range all {
		names = append(names, f.Name)
	}
	logger := w.platform.logger.With("functions", strings.Join(names, ", "))
	begin := now()
	// Before the result is logged, also the packages are watched that the new code begins to use: an error can be in them.
	refreshed := make(chan error, 1)
	go func() { refreshed <- w.refresh(ctx) }()
	err := w.platform.replace(ctx, all)
	if err := <-refreshed; err != nil && ctx.Err() == nil {
		logger.Warn("watch the functions' code", "error", err)
	}
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		logger.Error("the old code stays in use: " + err.Error())
	default:
		logger.Info("replaced", "ms", now().Sub(begin).Milliseconds())
	}
	return err == nil
}

// replace builds functions into another folder, so that a binary in use is replaced only by one that starts.
func (p *Platform) replace(ctx context.Context, all []resources.Function) error {
	next := p.functions.dir + ".next"
	if err := p.functions.build(ctx, next, all); err != nil {
		return err
	}
	if err := p.checkFunctions(ctx, next, all); err != nil {
		return err
	}
	var problems []error
	for _, f := range all {
		err := os.Rename(p.functions.binary(next, f), p.functions.binary(p.functions.dir, f))
		if err != nil && !errors.Is(err, os.ErrNotExist) { // functions can share a binary
			problems = append(problems, fmt.Errorf("%s: %w", f.Name, err))
			continue
		}
		problems = append(problems, p.runtime.Replace(f.Name))
	}
	return errors.Join(problems...)
}

// users returns the functions that use a file, by key (see watchKeys): the Go files and the embedded files of their
// packages, and go.mod and go.sum. Packages of the standard library and of the module cache do not change.
func (b *functions) users(ctx context.Context) (map[string][]resources.Function, error) {
	packages, err := listPackages(ctx, b.stack.Dir, b.stack.Functions)
	if err != nil {
		return nil, err
	}
	users := map[string][]resources.Function{}
	for _, f := range b.stack.Functions {
		files := map[string]bool{filepath.Join(b.stack.Dir, "go.mod"): true, filepath.Join(b.stack.Dir, "go.sum"): true}
		used := packages[filepath.Join(b.stack.Dir, filepath.FromSlash(f.CodeURI))]
		for _, name := range append(used.Deps, used.ImportPath) {
			for _, file := range packages[name].files() {
				files[file] = true
			}
		}
		for file := range files {
			users[file] = append(users[file], f)
		}
	}
	return users, nil
}

// listedPackage is a package as `go list` describes it.
type listedPackage struct {
	ImportPath, Dir  string
	Standard         bool
	Deps, EmbedFiles []string
	Module           struct{ Version string }
}

// files returns the keys of the files of a package, or none if the package does not change.
func (p listedPackage) files() []string {
	if p.Dir == "" || p.Standard || p.Module.Version != "" {
		return nil
	}
	files := []string{filepath.Join(p.Dir, "*.go")}
	for _, file := range p.EmbedFiles {
		path := filepath.Join(p.Dir, file)
		if folder := filepath.Dir(path); folder != p.Dir {
			path = filepath.Join(folder, "*")
		}
		files = append(files, path)
	}
	return files
}

// listPackages returns the packages of functions and the packages that they import, by import path and by folder.
// Packages with errors are included.
func listPackages(ctx context.Context, dir string, functions []resources.Function) (map[string]listedPackage, error) {
	arguments := []string{"list", "-e", "-deps", "-json=ImportPath,Dir,Standard,Deps,EmbedFiles,Module"}
	command := exec.CommandContext(ctx, "go", append(arguments, packages(functions)...)...)
	command.Dir = dir
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", dir, err)
	}
	packages := map[string]listedPackage{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list in %s: %w", dir, err)
		}
		packages[p.ImportPath], packages[p.Dir] = p, p
	}
}
