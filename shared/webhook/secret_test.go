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
	s := newSite(t)
	ada := s.user("ada")
	path := ada.hook("/ok", object{"secret": "a first secret"})
	ada.Do("PUT", path, object{"secret": "a second secret"}).Want(t, http.StatusOK)
	third := ada.Do("PUT", path, object{"secret": nil}).Want(t, http.StatusOK).Text("secret")
	made := ada.Do("POST", "/api/webhooks", object{"url": "https://example.com/", "events": []string{"*"}}).Want(t, http.StatusCreated).Text("secret")
	if third == "" || made == "" || third == made {
		t.Fatalf("generated %q and %q", third, made)
	}
	ada.Do("POST", path+"/test", nil).Want(t, http.StatusOK)
	seen := s.dump() + s.log.String() + ada.Get("/api/webhooks").Raw + ada.Do("PUT", path, object{"description": "new"}).Raw
	for _, secret := range []string{"a first secret", "a second secret", third, made} {
		if strings.Contains(seen, secret) || strings.Contains(seen, strings.TrimPrefix(secret, "whsec_")) {
			t.Errorf("%q is exposed", secret)
		}
	}
	got := s.receiver.Requests()[0]
	for _, secret := range []string{"a first secret", "a second secret", third} {
		if err := got.VerifyStandard(secret); err != nil {
			t.Errorf("%q does not verify: %v", secret, err)
		}
	}
	if got.Verify(third) != nil || got.Verify("a second secret") == nil {
		t.Error("X-Service-Signature does not use the newest secret")
	}
	s.clock.Advance(24 * time.Hour)
	ada.Do("POST", path+"/test", nil).Want(t, http.StatusOK)
	if got := s.receiver.Requests()[1]; got.VerifyStandard("a second secret") == nil || got.Verify(third) != nil {
		t.Error("the old secret still signs after a day")
	}
}
