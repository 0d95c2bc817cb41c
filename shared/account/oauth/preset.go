package oauth

import xoauth2 "golang.org/x/oauth2"

const (
	kindNone   = "none"
	kindCustom = "custom"
)

// endpoints are a provider's URLs. Without emails, the user's own answer holds the address.
type endpoints struct{ authorize, token, user, emails string }

// preset is what is known of a kind of provider.
type preset struct {
	kind, title string
	base        string // of the public service; empty where there is none
	baseNeeded  bool   // no public service, so the base must be given
	selfHosted  bool   // the base may be given
	scopes      []string
	styles      []xoauth2.AuthStyle // how the client says who it is; the next one is tried when the client is not recognised
	subject     []string            // the fields that may hold the stable id, the best first
	endpoints   func(base string) endpoints
}

// Sources: GitHub "Authorizing OAuth apps" and "Emails"; GitLab "OAuth 2.0 identity provider API" and "Users API";
// Bitbucket Cloud "OAuth 2.0" and "Users"; Gitea "OAuth2 provider" and its Swagger.
var presets = map[string]preset{
	"github": {
		kind: "github", title: "GitHub", base: "https://github.com", selfHosted: true,
		scopes:    []string{"read:user", "user:email"},
		styles:    []xoauth2.AuthStyle{xoauth2.AuthStyleInParams},
		subject:   []string{"id"},
		endpoints: githubEndpoints,
	},
	"gitlab": {
		kind: "gitlab", title: "GitLab", base: "https://gitlab.com", selfHosted: true,
		scopes:  []string{"read_user"},
		styles:  []xoauth2.AuthStyle{xoauth2.AuthStyleInParams},
		subject: []string{"id"},
		endpoints: func(base string) endpoints {
			return endpoints{base + "/oauth/authorize", base + "/oauth/token", base + "/api/v4/user", ""}
		},
	},
	"bitbucket": {
		kind: "bitbucket", title: "Bitbucket", base: "https://bitbucket.org",
		scopes:  []string{"account", "email"},
		styles:  []xoauth2.AuthStyle{xoauth2.AuthStyleInHeader},
		subject: []string{"uuid", "account_id"},
		endpoints: func(base string) endpoints {
			const api = "https://api.bitbucket.org/2.0"
			return endpoints{base + "/site/oauth2/authorize", base + "/site/oauth2/access_token", api + "/user", api + "/user/emails?pagelen=100"}
		},
	},
	"gitea": {
		kind: "gitea", title: "Gitea", baseNeeded: true, selfHosted: true,
		scopes:  []string{"read:user"},
		styles:  []xoauth2.AuthStyle{xoauth2.AuthStyleInParams},
		subject: []string{"id"},
		endpoints: func(base string) endpoints {
			if base == "" {
				return endpoints{}
			}
			return endpoints{base + "/login/oauth/authorize", base + "/login/oauth/access_token", base + "/api/v1/user", base + "/api/v1/user/emails"}
		},
	},
	kindCustom: {
		kind: kindCustom, title: "the code host",
		// RFC 6749 §2.3.1: every server must take Basic; those that do not take the body.
		styles:    []xoauth2.AuthStyle{xoauth2.AuthStyleInHeader, xoauth2.AuthStyleInParams},
		subject:   []string{"sub", "id", "uuid"},
		endpoints: func(string) endpoints { return endpoints{} },
	},
}

// githubEndpoints: the public API has a host of its own, an Enterprise server has it under /api/v3.
func githubEndpoints(base string) endpoints {
	api := base + "/api/v3"
	if base == "https://github.com" {
		api = "https://api.github.com"
	}
	return endpoints{base + "/login/oauth/authorize", base + "/login/oauth/access_token", api + "/user", api + "/user/emails?per_page=100"}
}
