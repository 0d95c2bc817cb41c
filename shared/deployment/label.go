package deployment

import (
	"crypto/rand"
	"regexp"
	"slices"
	"strings"
)

const (
	minLabel = 3
	maxLabel = 40
)

var labelPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,38}[a-z0-9]$`)

// The words that no site can have as its label.
var (
	// discoveryNames are the host names that programs look up below a domain automatically: for proxies, tunnels, the
	// settings of mail and calendars, chats, the management of devices, mail security, and keys. A site with such a name
	// could change the settings of other computers, or authenticate mail of the domain.
	discoveryNames = words(`
		wpad isatap autodiscover autoconfig mta-sts openpgpkey bimi dkim dmarc caldav carddav kerberos
		lyncdiscover lyncdiscoverinternal sip sipdir sipexternal sipfed sipinternal xmpp jabber stun turn
		enterpriseenrollment enterpriseregistration msoid localhost localdomain broadcasthost`)

	// hostNames are names of machines and network services. They are also reserved with a number, such as www2 or ns-1.
	hostNames = words(`
		www ns dns mx mta mail email e-mail webmail owa exchange smtp imap pop relay
		ftp sftp ssh vpn proxy gateway router firewall ldap ntp whois ocsp crl pki
		api cdn static assets media images img files download downloads upload uploads origin server host`)

	// officialWords are words with which a site could pretend to be a part of the service. Labels that consist only of
	// such words, such as account-login, are also reserved.
	officialWords = words(`
		admin administrator administration root system internal official ops staff team operator moderator
		postmaster hostmaster webmaster abuse support help helpdesk contact service services customer customers
		status about legal terms privacy security secure safety trust compliance
		auth login logon logout signin signon signout signup register account accounts user users profile
		password passwords reset recover recovery verify verification confirm confirmation session sessions
		oauth openid sso saml mfa otp id identity invite invitation invitations
		billing invoice invoices pay payment payments checkout subscription subscriptions
		dashboard console portal control panel settings webhook webhooks metrics monitoring`)

	// ownWords are words that the service keeps for its own use.
	ownWords = words(`
		web app apps site sites my new go get docs doc blog news shop store
		dev test staging preview production local`)

	trailingNumber = regexp.MustCompile(`-?[0-9]+$`)
)

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
	case isReserved(label):
		return "is reserved for the service. Choose another label"
	}
	return ""
}

// isReserved reports whether visitors or programs could mistake a site with this label for a part of the service or of
// its network.
func isReserved(label string) bool {
	base := trailingNumber.ReplaceAllString(label, "")
	isUnofficial := func(word string) bool { return !officialWords[word] }
	return discoveryNames[label] || ownWords[label] || hostNames[base] ||
		!slices.ContainsFunc(strings.Split(base, "-"), isUnofficial)
}

// firstLabel returns the label that the first deployment takes for a project's slug: the slug, shortened if it is too
// long. attempt counts from 0. The label has a random suffix if the slug is reserved or too short, and after the first
// attempt.
func firstLabel(slug string, attempt int) string {
	if label := strings.Trim(slug[:min(len(slug), maxLabel)], "-"); attempt == 0 && checkLabel(label) == "" {
		return label
	}
	const suffix = 6
	base := strings.Trim(slug[:min(len(slug), maxLabel-1-suffix)], "-")
	if base == "" {
		base = "site"
	}
	return base + "-" + randomBase32(suffix)
}

// randomBase32 returns up to 26 random characters: lowercase letters and the digits 2 to 7.
func randomBase32(n int) string { return strings.ToLower(rand.Text()[:n]) }
