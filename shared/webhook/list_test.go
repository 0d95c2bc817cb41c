package webhook

import (
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"devplatform/shared/db"
)

// A stored webhook that cannot be decoded does not hide the others, and can be deleted.
func TestUndecodableWebhook(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ada := s.user("ada")
	broken, whole := ada.hook("/ok/1"), ada.hook("/ok/2")
	update := expression.Set(expression.Name("events"), expression.Value(7))
	_, err := s.client.Do(t.Context(), s.webhooks.Update(db.WebhookKey(ada.personal, s.stored(broken).ID), update))
	s.must(err)
	list := ada.Get("/api/webhooks")
	if items, ok := list.Body["webhooks"].([]any); !ok || len(items) != 1 || "/api/webhooks/"+items[0].(map[string]any)["id"].(string) != whole {
		t.Errorf("%d %s", list.Status, list.Raw)
	}
	if a := ada.Do(http.MethodDelete, broken, nil); a.Status != http.StatusOK {
		t.Errorf("%d %s", a.Status, a.Raw)
	}
	noWebhook.of(t, "deleted again", ada.Do(http.MethodDelete, broken, nil))
}
