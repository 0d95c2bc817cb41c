package webhook

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// Stored items, logs and responses do not contain secrets, except the response that generated the secret.
func TestSecretsAreNotExposed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ada := f.user("ada")
	path := ada.createWebhook("/ok", object{"secret": "a first secret"})
	ada.Do("PUT", path, object{"secret": "a second secret"}).Want(t, http.StatusOK)
	third := ada.Do("PUT", path, object{"secret": nil}).Want(t, http.StatusOK).Text("secret")
	created := ada.Do("POST", "/api/webhooks", object{"url": "https://example.com/", "events": []string{"*"}})
	other := created.Want(t, http.StatusCreated).Text("secret")
	if third == "" || other == "" || third == other {
		t.Fatalf("got the generated secrets %q and %q, want two different secrets", third, other)
	}
	ada.Do("POST", path+"/test", nil).Want(t, http.StatusOK)
	listed, updated := ada.Get("/api/webhooks"), ada.Do("PUT", path, object{"description": "new"})
	output := f.dump() + f.log.String() + listed.Raw + updated.Raw
	for _, secret := range []string{"a first secret", "a second secret", third, other} {
		if strings.Contains(output, strings.TrimPrefix(secret, "whsec_")) {
			t.Errorf("an item, the log or a response contains the secret %q", secret)
		}
	}
	got := f.receiver.Requests()[0]
	for _, secret := range []string{"a first secret", "a second secret", third} {
		if err := got.VerifyStandard(secret); err != nil {
			t.Errorf("the request has no valid signature with %q: %v", secret, err)
		}
	}
	if got.VerifyService(third) != nil || got.VerifyService("a second secret") == nil {
		t.Error("X-Service-Signature is not computed with the newest secret")
	}
	f.clock.Advance(24 * time.Hour)
	ada.Do("POST", path+"/test", nil).Want(t, http.StatusOK)
	got = f.receiver.Requests()[1]
	if got.VerifyStandard("a second secret") == nil {
		t.Error("the replaced secret is still used after a day")
	}
	if err := got.Verify(third); err != nil {
		t.Error(err)
	}
}
