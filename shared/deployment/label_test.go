package deployment

import (
	"regexp"
	"strings"
	"testing"
)

func TestReservedLabels(t *testing.T) {
	t.Parallel()
	for _, label := range []string{
		"www", "www2", "www-2", "www01", "ns1", "ns-12", "mx10", "pop3", "mail2", "e-mail", "webmail", "api2", "cdn-1",
		"wpad", "isatap", "autodiscover", "autoconfig", "mta-sts", "openpgpkey", "lyncdiscover", "enterpriseenrollment",
		"admin", "login", "account-login", "password-reset", "verify-account-2", "support1", "secure-login-portal",
		"app", "docs", "localhost",
	} {
		if rule := checkLabel(label); rule != "is reserved for the service. Choose another label" {
			t.Errorf("%s: %q, want a reserved label", label, rule)
		}
		if got := firstLabel(label, 0); got == label || checkLabel(got) != "" {
			t.Errorf("the first label for the slug %s is %s, want a free one", label, got)
		}
	}
	if got, want := firstLabel(strings.Repeat("ab-", 20)+"ab", 0), strings.Repeat("ab-", 13)+"a"; got != want {
		t.Errorf("the first label for a long slug is %s, want %s", got, want)
	}
	for _, label := range []string{
		"todo-list", "my-app", "app2", "web3", "blog-2", "login-form-demo", "www-cats", "mailbox", "adas-admin", "nsa",
		"team7-football", "2024-2025", "127",
	} {
		if rule := checkLabel(label); rule != "" {
			t.Errorf("%s: %q, want a free label", label, rule)
		}
	}
}

// Each reserved word is in one list, and could be a label, so that no line of the lists is without effect.
func TestReservedWords(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, list := range []map[string]bool{discoveryNames, hostNames, officialWords, ownWords} {
		for word := range list {
			if seen[word] || !regexp.MustCompile(`^[a-z][a-z0-9-]*[a-z0-9]$`).MatchString(word) {
				t.Errorf("%q is not a word, or is in two lists", word)
			}
			seen[word] = true
			if rule := checkLabel(word); rule == "" || len(word) >= minLabel && !strings.HasPrefix(rule, "is reserved") {
				t.Errorf("%q is not reserved: %q", word, rule)
			}
		}
	}
}
