package webhook

import (
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/google/go-cmp/cmp"

	"devplatform/shared/db"
)

// A webhook that is read has the fields of the list, and no secret.
func TestReadWebhook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	used, other := ada.createWebhook("/ok/1"), ada.createWebhook("/ok/2", object{"secret": "a secret of their own"})
	ada.Do(http.MethodPost, used+"/test", nil).Want(t, http.StatusOK)
	ada.Do(http.MethodPut, other, object{"secret": nil, "active": false}).Want(t, http.StatusOK)
	list := ada.Get("/api/webhooks").Want(t, http.StatusOK).List("webhooks")
	for i, path := range []string{used, other} {
		r := ada.Get(path).Want(t, http.StatusOK)
		if diff := cmp.Diff(list[i], r.Body); diff != "" {
			t.Errorf("mismatch (-in the list +read):\n%s", diff)
		}
		if _, has := r.Body["secret"]; has || r.Calls != 3 || r.Depth != 2 {
			t.Errorf("got %s with %d calls of depth %d, want no secret, and 3 calls of depth 2", r.Raw, r.Calls, r.Depth)
		}
	}
	ada.Do(http.MethodDelete, used, nil).Want(t, http.StatusOK)
	noWebhook.check(t, "read after the deletion", ada.Get(used))
}

// A stored webhook that cannot be decoded does not hide the others, and can be deleted.
func TestListSkipsUndecodableWebhook(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	broken, valid := ada.createWebhook("/ok/1"), ada.createWebhook("/ok/2")
	update := expression.Set(expression.Name("events"), expression.Value(7))
	_, err := f.client.Do(t.Context(), f.webhooks.Update(db.WebhookKey(ada.personal, f.storedWebhook(broken).ID), update))
	f.must(err)
	list := ada.Get("/api/webhooks").Want(t, http.StatusOK)
	if ids := list.Texts("webhooks", "id"); len(ids) != 1 || "/api/webhooks/"+ids[0] != valid {
		t.Errorf("got %s, want only the webhook %s", list.Raw, valid)
	}
	ada.Do(http.MethodDelete, broken, nil).Want(t, http.StatusOK)
	noWebhook.check(t, "second deletion", ada.Do(http.MethodDelete, broken, nil))
}
