package cleanup_test

import (
	"maps"
	"slices"
	"strings"

	"devplatform/infra/projecttest"
	"devplatform/shared/db"
	"devplatform/shared/project/content"
	"devplatform/shared/project/file"
)

// referenced returns the keys of the objects to which live records of existing projects refer.
func (w *killWorld) referenced() map[string]bool {
	w.T.Helper()
	keys := map[string]bool{}
	for _, projectID := range w.projects {
		items, err := w.Projects.QueryAll(w.T.Context(), db.ProjectPartition(projectID))
		if err != nil {
			w.T.Fatal(err)
		}
		for _, item := range items {
			ref, err := db.Decode[content.Ref](item)
			if err != nil {
				w.T.Fatal(err)
			}
			if ref.ObjectFormat != "" {
				keys[ref.ObjectKey(projectID)] = true
			}
		}
	}
	return keys
}

// checkReferenced checks that every object to which a record refers exists.
func (w *killWorld) checkReferenced() {
	w.T.Helper()
	stored := map[string]bool{}
	for _, key := range w.Objects() {
		stored[key] = true
	}
	for key := range w.referenced() {
		if !stored[key] {
			w.T.Fatalf("a record refers to the missing object %s", key)
		}
	}
}

// checkRemoved completes all work, and checks that every object has a record, that every file can be read, and that the
// trees have the size of the old versions.
func (w *killWorld) checkRemoved() {
	w.T.Helper()
	c := w.clients(&process{})
	for _, projectID := range w.deleted {
		if err := c.cleanup(0).Handle(w.T.Context(), deletionRecord(w.fixture, projectID)); err != nil {
			w.T.Fatal(err)
		}
	}
	w.deleted = nil
	for range 2 { // an interrupted sweep continues, the second one begins at the first object
		if err := c.cleanup(projecttest.Old).Sweep(w.T.Context()); err != nil {
			w.T.Fatal(err)
		}
	}
	if got, want := w.Objects(), slices.Sorted(maps.Keys(w.referenced())); !slices.Equal(got, want) {
		w.T.Fatalf("got the objects\n%v\nwant those to which records refer\n%v", got, want)
	}
	for _, projectID := range w.projects {
		if _, _, err := c.files.List(w.T.Context(), w.caller, projectID, file.Listing{WithContent: true}); err != nil {
			w.T.Fatal(err)
		}
		client := w.ada.FilesOf(projectID)
		_, bytes := client.CountStored(db.FilesOf(projectID, ""))
		n, openBytes := client.OpenUploads()
		if tree := client.Tree(); tree.Uploads != n || tree.Bytes != bytes+openBytes {
			w.T.Fatalf("got the tree %+v, want %d open uploads and %d bytes", tree, n, bytes+openBytes)
		}
		w.checkOldBytes(projectID)
	}
}

// checkOldBytes compares the size of the old versions in the tree with their records. Nothing removes expired records
// here, and no request exceeds the quota, so expired versions count.
func (w *killWorld) checkOldBytes(projectID string) {
	w.T.Helper()
	versions, tree, sum := db.AllVersionsOf(projectID), db.TreeKey(projectID), 0
	items := w.Dump(w.Tables.Projects)
	for key, item := range items {
		if key.PK != versions.PK || !strings.HasPrefix(key.SK, versions.SK) {
			continue
		}
		version, err := db.Decode[file.File](item)
		if err != nil {
			w.T.Fatal(err)
		}
		sum += version.Size
	}
	if got, err := db.Decode[file.Tree](items[tree]); err != nil || got.OldBytes != sum {
		w.T.Fatalf("the tree has %d bytes of old versions, %v, want %d", got.OldBytes, err, sum)
	}
}
