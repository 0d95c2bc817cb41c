package deployment

import (
	"crypto/rand"
	"regexp"
	"strings"

	"devplatform/shared/fault"
)

const (
	minLabel = 3
	maxLabel = 40
)

var labelPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$`)

// reserved are the labels that no site can have, because visitors could take them for a part of the service, or because
// they are names of services in the domain name system.
var reserved = words(`
	www web api app apps site sites my new go get
	admin administrator root system internal ops staff team
	mail email smtp imap pop mx ns ns1 ns2 dns ftp ssh vpn autoconfig autodiscover wpad
	status docs doc help support blog news about contact legal terms privacy security abuse
	static assets cdn media images files download downloads upload uploads
	auth login logout signin signup register account accounts oauth sso id
	billing pay payment payments shop store checkout
	dashboard console portal dev test staging preview production local localhost
	webhook webhooks metrics monitoring`)

func words(text string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(text) {
		all[word] = true
	}
	return all
}

// checkLabel returns the rule that a label breaks, or "".
func checkLabel(label string) string {
	switch {
	case !labelPattern.MatchString(label) || strings.Contains(label, "--"):
		return "must have 3–40 lowercase letters, digits and single hyphens, and must begin and end with a letter or a digit"
	case reserved[label]:
		return "is reserved for the service. Choose another label"
	}
	return ""
}

var errBlocked = fault.New(fault.CodeAccessDenied,
	"The address of the site is blocked, so its label cannot be changed. Ask the operator of the service.")

var errLabelTaken = fault.New(fault.CodeConflict, "The label is taken by another site. Choose another label.")

// labelOf returns the label that the first deployment claims for a project's slug. attempt counts from 0. The label has
// a random suffix if the slug is not a valid label, and after the first attempt.
func labelOf(slug string, attempt int) string {
	if attempt == 0 && checkLabel(slug) == "" {
		return slug
	}
	const suffix = 6
	base := strings.Trim(slug[:min(len(slug), maxLabel-1-suffix)], "-")
	if attempt == 0 && len(slug) > maxLabel {
		if label := strings.Trim(slug[:maxLabel], "-"); checkLabel(label) == "" {
			return label
		}
	}
	if base == "" {
		base = "site"
	}
	return base + "-" + randomBase32(suffix)
}

// randomBase32 returns up to 26 random characters: lowercase letters and the digits 2 to 7.
func randomBase32(n int) string { return strings.ToLower(rand.Text()[:n]) }

// ownLabel returns the label of a new deployment's own address.
func ownLabel(label string) string { return label + "--" + randomBase32(16) }
