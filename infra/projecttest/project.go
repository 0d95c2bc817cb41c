package projecttest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/infra/testmode"
	"devplatform/shared/fault"
)

// URL returns the path of a project.
func URL(id string) string { return "/api/projects/" + id }

// Faults are the faults of DynamoDB that tests inject into changes.
var Faults = []dynamotest.Fault{
	dynamotest.ServerError, dynamotest.Throttled, dynamotest.DroppedConnection, dynamotest.LostReply,
	dynamotest.LostReplies, dynamotest.Conflict, dynamotest.MissingTable,
}

// SkipsFault reports whether a test leaves out a fault at an operation. Conflicts happen to transactions only. Above
// package db, it makes no difference whether a read fails with an error, without a response or by throttling, so only
// make nightly tests all of them.
func SkipsFault(injected dynamotest.Fault, operation string) bool {
	switch {
	case operation == "TransactWriteItems":
		return false
	case injected.Name == dynamotest.Conflict.Name:
		return true
	}
	isRepresentative := injected.Name == dynamotest.ServerError.Name || injected.Name == dynamotest.LostReply.Name
	return !isRepresentative && !testmode.IsNightly()
}

// Comment creates a comment on a project, and returns its ID.
func (u *User) Comment(projectID string) string {
	u.Fixture.T.Helper()
	r := u.Do(http.MethodPost, URL(projectID)+"/comments", Object{"body": "x"})
	return r.Want(u.Fixture.T, http.StatusCreated).Text("id")
}

// CheckResponse checks the response to a request with an injected fault. hit means that the fault occurred, changed
// means that the request changed stored items.
func CheckResponse(t *testing.T, name string, injected dynamotest.Fault, hit, changed bool, r slicetest.Response) {
	t.Helper()
	succeeded := r.Status < http.StatusBadRequest
	switch {
	case succeeded && !changed:
		t.Errorf("%s: got status %d, but no stored item changed", name, r.Status)
	case !hit || injected.Calls > 0: // the fault did not occur, or a retry succeeded
		if !succeeded {
			t.Errorf("%s: got %d %s, want success", name, r.Status, r.Raw)
		}
	case injected.Name == dynamotest.MissingTable.Name:
		r.Want(t, http.StatusInternalServerError, fault.CodeInternal)
	default:
		r.Want(t, http.StatusServiceUnavailable, fault.CodeServiceUnavailable)
	}
	if strings.Contains(r.Raw, "injected") || strings.Contains(r.Raw, "dynamo") {
		t.Errorf("%s: the response has internal details: %s", name, r.Raw)
	}
}

// WantStatuses checks the number of responses with each status.
func WantStatuses(t *testing.T, responses []slicetest.Response, want map[int]int) {
	t.Helper()
	if diff := cmp.Diff(want, slicetest.CountStatuses(responses)); diff != "" {
		t.Errorf("number of responses by status: mismatch (-want +got):\n%s", diff)
	}
}

// Pages reads all pages of a list, and returns a field of all elements.
func (u *User) Pages(path, query, list, field string, limit int) []any {
	u.Fixture.T.Helper()
	var all []any
	next := ""
	for range 1000 {
		r := u.Get(fmt.Sprintf("%s?limit=%d%s%s", path, limit, query, next)).Want(u.Fixture.T, http.StatusOK)
		if n := len(r.List(list)); n > limit {
			u.Fixture.T.Fatalf("got a page of %d elements, want at most %d", n, limit)
		}
		all = append(all, r.Values(list, field)...)
		if r.Text("nextCursor") == "" {
			if _, hasCursor := r.Body["nextCursor"]; hasCursor {
				u.Fixture.T.Errorf("the last page has a cursor: %s", r.Raw)
			}
			return all
		}
		next = "&cursor=" + url.QueryEscape(r.Text("nextCursor"))
	}
	u.Fixture.T.Fatal("the list has more than 1000 pages")
	return nil
}

// SetVariables sends a request that replaces the variables of a project.
func (u *User) SetVariables(projectID string, variables []Object, options ...func(*http.Request)) slicetest.Response {
	u.Fixture.T.Helper()
	return u.Do(http.MethodPut, URL(projectID)+"/variables", Object{"variables": variables}, options...)
}
