package webhook

import (
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

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
