package project

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"devplatform/infra/slicetest"
	"devplatform/shared/clock"
	"devplatform/shared/fault"
)

// A completion has the preconditions of a save. After a failed one, it can be sent again.
func TestCompleteWithPrecondition(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	tag := client.save("/a", "one").Header.Get("ETag")
	a := client.announce("/a", []byte("two"), nil)
	a.put(nil)
	create, match := slicetest.Header("If-None-Match", "*"), slicetest.Header("If-Match", tag)
	a.complete(create).Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
	client.save("/a", "three").Want(t, http.StatusOK)
	a.complete(match).Want(t, http.StatusPreconditionFailed, fault.CodePreconditionFailed)
	client.wantTree("before the completion", 5+3, 1, 3+5+3)
	done := a.complete(slicetest.Header("If-Match", "*")).Want(t, http.StatusOK)
	client.wantTree("after the completion", 3, 0, 3+5+3)
	// The same request again has the same result, although the precondition is no longer met.
	if again := a.complete(match).Want(t, http.StatusOK); again.Raw != done.Raw {
		t.Errorf("got %s, want the response %s again", again.Raw, done.Raw)
	}
}

// A completion that is repeated returns the version that it created, as long as it exists.
func TestCompleteTwice(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	a := client.announce("/a", []byte("one"), nil)
	a.put(nil)
	first := a.complete().Want(t, http.StatusCreated)
	for _, change := range []func(){
		func() {},
		func() { client.save("/a", "two").Want(t, http.StatusOK) },
		func() { client.batch(renaming("/a", "/b")).Want(t, http.StatusOK) },
		func() { f.clock.Advance(23 * time.Hour) },
	} {
		change()
		if again := a.complete().Want(t, http.StatusOK); again.Raw != first.Raw {
			t.Errorf("got %s, want %s", again.Raw, first.Raw)
		}
	}
	if n := len(client.fileEvents()); n != 4 {
		t.Errorf("got %d events, want one of the upload, one of the save and two of the rename", n)
	}
	f.clock.Advance(2 * time.Hour)
	a.complete().Want(t, http.StatusNotFound, fault.CodeUploadNotFound)
}

// An upload of the content that the file already has changes no file, but is completed.
func TestCompleteWithSameContent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	client := f.newFilesClient("ada")
	saved := client.save("/a", "same")
	before := client.tree()
	a := client.announce("/a", []byte("same"), nil)
	a.put(nil)
	for range 2 {
		done := a.complete().Want(t, http.StatusOK)
		if done.Text("version") != saved.Text("version") {
			t.Errorf("got %s, want the version %s", done.Raw, saved.Text("version"))
		}
	}
	after := client.tree()
	if before.Uploads, after.Uploads = 0, 0; before != after {
		t.Errorf("got the tree %+v, want %+v", after, before)
	}
	if n := len(client.fileEvents()); n != 1 {
		t.Errorf("got %d events, want 1", n)
	}
	if err := c.sweep(old); err != nil || len(f.objects()) != 0 {
		t.Errorf("after a sweep: error %v, objects %v, want none", err, f.objects())
	}
}

// Concurrent completions of one upload create one version, and all return it.
func TestConcurrentCompletions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	a := client.announce("/a", randomBytes(2*mib), nil)
	a.put(nil)
	responses := slicetest.Concurrently(12, func(int) response { return a.complete() })
	wantStatuses(t, responses, map[int]int{http.StatusCreated: 1, http.StatusOK: 11})
	for _, r := range responses {
		if r.Text("version") != client.record("/a").Version {
			t.Errorf("got %s, want the version %s", r.Raw, client.record("/a").Version)
		}
	}
	if n := len(client.fileEvents()); n != 1 {
		t.Errorf("got %d events, want 1", n)
	}
	client.wantTree("after the completions", 2*mib, 0, 2*mib)
}

// An upload can be completed for one hour after its URL has expired. After a day, the sweep removes its object.
func TestCompleteLate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := newCleaner(t, f)
	client := f.newFilesClient("ada")
	data := randomBytes(5000)
	inTime, late := client.announce("/a", data, nil), client.announce("/b", data, nil)
	if late.Expires != clock.Stamp(f.clock.Now().Add(15*time.Minute)).String() {
		t.Errorf("got the expiry %s, want 15 minutes after %v", late.Expires, f.clock.Now())
	}
	inTime.put(nil)
	late.put(nil)
	f.clock.Advance(75 * time.Minute)
	inTime.complete().Want(t, http.StatusCreated)
	f.clock.Advance(time.Millisecond)
	late.complete().Want(t, http.StatusConflict, fault.CodeConflict)
	if err := c.sweep(old); err != nil {
		t.Fatal(err)
	}
	if got, want := f.objects(), []string{client.record("/a").ObjectKey(client.projectID)}; !slices.Equal(got, want) {
		t.Errorf("got the objects %v, want %v", got, want)
	}
}

// An object of another size, which the signature does not allow, is not accepted.
func TestCompleteChecksSize(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	for _, size := range []int{100, 2 * mib} {
		a := client.announce("/a", randomBytes(size), nil)
		key := client.uploadKeys()[a.ID]
		f.putObject(key, randomBytes(size-1))
		a.complete().Want(t, http.StatusConflict, fault.CodeConflict)
	}
}

// An interrupted upload can be continued: files that were announced with the same settings have different objects.
func TestUploadsOfOneFileAreIndependent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	client := f.newFilesClient("ada")
	data := []byte("content")
	first, second := client.announce("/a", data, nil), client.announce("/a", data, nil)
	first.put(nil)
	second.complete().Want(t, http.StatusConflict, fault.CodeConflict)
	second.put(nil)
	second.complete().Want(t, http.StatusCreated)
	first.complete().Want(t, http.StatusOK)
	client.wantTree("after both", len(data), 0, 2*len(data))
	client.checkTree()
}
