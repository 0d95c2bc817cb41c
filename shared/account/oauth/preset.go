package oauth

import xoauth2 "golang.org/x/oauth2"

const (
	kindNone   = "none"
	kindCustom = "custom"
)

// endpoints are the URLs of a provider. If emails is empty, the user resource contains the e-mail address.
type endpoints struct{ authorize, token, user, emails string }

// preset contains the properties of a kind of provider.
type preset struct {
	kind, title string
	base        string    // root URL of the public service; empty if there is none
	api         string    // root URL of the public service's API, if it is not below base
	selfHosted  bool      // OAUTH_BASE_URL is allowed
	paths       endpoints // authorize and token are relative to base, user and emails to the API
	apiPath     string    // path of the API, relative to base
	scopes      []string
	styles      []xoauth2.AuthStyle // how the client authenticates at the token endpoint, see exchange
	subject     []string            // the fields that can contain the stable ID, the preferred one first
}

// Sources: GitHub "Authorizing OAuth apps" and "Emails"; GitLab "OAuth 2.0 identity provider API" and "Users API";
// Bitbucket Cloud "OAuth 2.0" and "Users"; Gitea "OAuth2 provider" and its Swagger.
var presets = map[string]preset{
	"github": {
		kind: "github", title: "GitHub", base: "https://github.com", selfHosted: true,
		api: "https://api.github.com", apiPath: "/api/v3", // apiPath is for GitHub Enterprise Server
		paths:   endpoints{"/login/oauth/authorize", "/login/oauth/access_token", "/user", "/user/emails?per_page=100"},
		scopes:  []string{"read:user", "user:email"},
		styles:  []xoauth2.AuthStyle{xoauth2.AuthStyleInParams},
		subject: []string{"id"},
	},
	"gitlab": {
		kind: "gitlab", title: "GitLab", base: "https://gitlab.com", selfHosted: true, apiPath: "/api/v4",
		paths:   endpoints{"/oauth/authorize", "/oauth/token", "/user", ""},
		scopes:  []string{"read_user"},
		styles:  []xoauth2.AuthStyle{xoauth2.AuthStyleInParams},
		subject: []string{"id"},
	},
	"bitbucket": {
		kind: "bitbucket", title: "Bitbucket", base: "https://bitbucket.org", api: "https://api.bitbucket.org/2.0",
		paths:   endpoints{"/site/oauth2/authorize", "/site/oauth2/access_token", "/user", "/user/emails?pagelen=100"},
		scopes:  []string{"account", "email"},
		styles:  []xoauth2.AuthStyle{xoauth2.AuthStyleInHeader},
		subject: []string{"uuid", "account_id"},
	},
	"gitea": {
		kind: "gitea", title: "Gitea", selfHosted: true, apiPath: "/api/v1",
		paths:   endpoints{"/login/oauth/authorize", "/login/oauth/access_token", "/user", "/user/emails"},
		scopes:  []string{"read:user"},
		styles:  []xoauth2.AuthStyle{xoauth2.AuthStyleInParams},
		subject: []string{"id"},
	},
	kindCustom: {
		kind: kindCustom, title: "the code host",
		// RFC 6749 §2.3.1 requires servers to support Basic. Some servers support only the request body.
		styles:  []xoauth2.AuthStyle{xoauth2.AuthStyleInHeader, xoauth2.AuthStyleInParams},
		subject: []string{"sub", "id", "uuid"},
	},
}

// requiresBase reports whether OAUTH_BASE_URL must be set, because there is no public service.
func (p preset) requiresBase() bool { return p.selfHosted && p.base == "" }

// endpoints returns the URLs of the provider at base. They are empty if base is empty.
func (p preset) endpoints(base string) endpoints {
	if base == "" {
		return endpoints{}
	}
	api := base + p.apiPath
	if base == p.base && p.api != "" {
		api = p.api
	}
	urls := endpoints{authorize: base + p.paths.authorize, token: base + p.paths.token, user: api + p.paths.user}
	if p.paths.emails != "" {
		urls.emails = api + p.paths.emails
	}
	return urls
}
