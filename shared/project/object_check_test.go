package project

import (
	"maps"
	"slices"
	"strings"

	"devplatform/shared/db"
	"devplatform/shared/project/content"
	"devplatform/shared/project/file"
)

// referenced returns the keys of the objects to which live records of existing projects refer.
func (w *killWorld) referenced() map[string]bool {
	w.t.Helper()
	keys := map[string]bool{}
	for _, projectID := range w.projects {
		items, err := w.fixture.projects.QueryAll(w.t.Context(), db.ProjectPartition(projectID))
		if err != nil {
			w.t.Fatal(err)
		}
		for _, item := range items {
			ref, err := db.Decode[content.Ref](item)
			if err != nil {
				w.t.Fatal(err)
			}
			if ref.Object != "" {
				keys[ref.ObjectKey(projectID)] = true
			}
		}
	}
	return keys
}

// checkReferenced checks that every object to which a record refers exists.
func (w *killWorld) checkReferenced() {
	w.t.Helper()
	stored := map[string]bool{}
	for _, key := range w.objects() {
		stored[key] = true
	}
	for key := range w.referenced() {
		if !stored[key] {
			w.t.Fatalf("a record refers to the missing object %s", key)
		}
	}
}

// checkRemoved completes all work, and checks that every object has a record, that every file can be read, and that the
// trees have the size of the old versions.
func (w *killWorld) checkRemoved() {
	w.t.Helper()
	c := w.clients(&process{})
	for _, projectID := range w.deleted {
		if err := c.cleanup(0).Handle(w.t.Context(), w.deletionRecord(projectID)); err != nil {
			w.t.Fatal(err)
		}
	}
	w.deleted = nil
	for range 2 { // an interrupted sweep continues, the second one begins at the first object
		if err := c.cleanup(old).Sweep(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
	if got, want := w.objects(), slices.Sorted(maps.Keys(w.referenced())); !slices.Equal(got, want) {
		w.t.Fatalf("got the objects\n%v\nwant those to which records refer\n%v", got, want)
	}
	for _, projectID := range w.projects {
		if _, _, err := c.files.List(w.t.Context(), w.caller, projectID, file.Listing{Content: true}); err != nil {
			w.t.Fatal(err)
		}
		client := w.ada.filesOf(projectID)
		tree, fileBytes := client.tree(), client.fileBytes()
		if n, bytes := client.openBytes(); tree.Uploads != n || tree.Bytes != fileBytes+bytes {
			w.t.Fatalf("got the tree %+v, want %d open uploads and %d bytes", tree, n, fileBytes+bytes)
		}
		w.checkOldBytes(projectID)
	}
}

// checkOldBytes compares the size of the old versions in the tree with their records. Nothing removes expired records
// here, and no request exceeds the quota, so expired versions count.
func (w *killWorld) checkOldBytes(projectID string) {
	w.t.Helper()
	versions, tree, sum := db.AllVersionsOf(projectID), db.TreeKey(projectID), 0
	items := w.dump(w.tableNames.projects)
	for key, item := range items {
		if key.PK != versions.PK || !strings.HasPrefix(key.SK, versions.SK) {
			continue
		}
		version, err := db.Decode[file.File](item)
		if err != nil {
			w.t.Fatal(err)
		}
		sum += version.Size
	}
	if got, err := db.Decode[file.Tree](items[tree]); err != nil || got.OldBytes != sum {
		w.t.Fatalf("the tree has %d bytes of old versions, %v, want %d", got.OldBytes, err, sum)
	}
}
