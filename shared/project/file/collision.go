package file

import (
	"context"
	"maps"
	"sync"

	"devplatform/shared/async"
	"devplatform/shared/project/path"
)

// No path is both a file and a folder. A path is a folder if there is a file inside it. A new file can collide with the
// files at the paths of its parent folders, and with the files inside its path. They are read after the tree. If
// another request changes them at the same time, the stored tree no longer satisfies plan.noCollision.

// readCollisions reads which files can collide with the files at the created paths: for each path, at most limit files
// inside it, and whether its folder has a file. It sets stored.inside and stored.folders.
func (s store) readCollisions(ctx context.Context, projectID string, created []string, limit int, stored *state) error {
	stored.inside, stored.folders = map[string][]string{}, map[string]bool{}
	for _, p := range created {
		stored.folders[path.Parent(p)] = false
	}
	delete(stored.folders, "")
	var mu sync.Mutex                    // for the maps
	reads, ctx := async.WithContext(ctx) // at most two for each operation
	for _, p := range created {
		reads.Go(func() error {
			files, err := s.pathsInside(ctx, projectID, p, limit)
			mu.Lock()
			defer mu.Unlock()
			stored.inside[p] = files
			return err
		})
	}
	for folder := range maps.Clone(stored.folders) {
		reads.Go(func() error {
			files, err := s.pathsInside(ctx, projectID, folder, 1)
			mu.Lock()
			defer mu.Unlock()
			stored.folders[folder] = len(files) > 0
			return err
		})
	}
	return reads.Wait()
}

// checkCollisions returns an error if a path would be both a file and a folder after all operations. It sets
// p.add.Folders if the plan may create a folder: if the folder of a new file may contain no other file. After a
// removal, a folder that contained a file may be empty.
func (p *plan) checkCollisions(stored state) error {
	after := map[string]bool{} // whether a file exists after the operations, for the paths that change
	for _, c := range p.changes {
		after[c.path] = c.after != nil
	}
	for _, c := range p.changes {
		if !c.creates() {
			continue
		}
		for _, folder := range path.Ancestors(c.path) {
			isFile, isChanged := after[folder]
			if isFile || (!isChanged && stored.file(folder) != nil) {
				return &operationError{c.operation, errInsideFile}
			}
		}
		for _, other := range stored.inside[c.path] {
			if isFile, isChanged := after[other]; isFile || !isChanged {
				return &operationError{c.operation, errIsFolder}
			}
		}
		if folder := path.Parent(c.path); p.add.Removed > 0 || folder != "" && !stored.folders[folder] {
			p.add.Folders = 1
		}
	}
	return nil
}
