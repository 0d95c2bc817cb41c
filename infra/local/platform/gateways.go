package platform

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"devplatform/infra/local/gateway"
	"devplatform/infra/local/loopback"
	"devplatform/infra/local/resources"
)

// HasWildcardDomain reports whether the template maps an API to a domain such as *.example.app. The platform serves it
// on the port of sites.
func HasWildcardDomain(api resources.API) bool {
	return slices.ContainsFunc(api.Domains, func(domain string) bool { return strings.HasPrefix(domain, "*.") })
}

// findAPIs returns the API for PORT, and the API with a wildcard domain for SITES_PORT. Each is nil if the template
// does not have it.
func findAPIs(s *resources.Stack) (api, sites *resources.API, err error) {
	for i := range s.APIs {
		found := &api
		if HasWildcardDomain(s.APIs[i]) {
			found = &sites
		}
		if *found != nil {
			return nil, nil, fmt.Errorf(
				"the local platform runs one API, and one API with a wildcard domain: %s and %s are of the same kind",
				(*found).LogicalID, s.APIs[i].LogicalID)
		}
		*found = &s.APIs[i]
	}
	return api, sites, nil
}

// Origins returns the origins of the gateway's pages.
func (a Addresses) Origins() []string {
	var origins []string
	for _, origin := range []string{a.URL, a.HTTPS} {
		origins = append(origins, origin, strings.Replace(origin, "localhost", "127.0.0.1", 1))
	}
	return origins
}

// SiteAddress returns the form of the addresses of sites.
func (a Addresses) SiteAddress() string { return strings.Replace(a.Sites, "://", "://<label>.", 1) }

// serveGateways serves the APIs. It closes the ports that have no API.
func (p *Platform) serveGateways(context.Context) error {
	api, sites, err := findAPIs(p.Stack)
	if err != nil {
		return err
	}
	if sites == nil {
		p.Sites = ""
		p.sites.close()
	} else {
		p.serveSites(sites)
	}
	if api == nil {
		p.URL, p.HTTPS = "", ""
		p.http.close()
		p.https.close()
		return nil
	}
	return p.serveAPI(api)
}

// serveAPI serves the API over HTTP and HTTPS.
func (p *Platform) serveAPI(api *resources.API) error {
	certificate, err := gateway.NewCertificate(now())
	if err != nil {
		return err
	}
	g := gateway.New(gateway.Options{
		API: *api, Invoke: p.runtime.Invoke, Account: Account, Now: now, Logger: p.logger,
		AcceptHost: func(host string) bool { return loopback.Accepts(host, p.config.hosts()...) },
		Landing:    http.HandlerFunc(p.serveLanding),
	})
	p.serveGateway(gateway.NewServer(g, nil, p.logger), p.http)
	secure := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	p.serveGateway(gateway.NewServer(g, secure, p.logger), p.https)
	return nil
}

// serveSites serves the API with a wildcard domain, over HTTP only.
func (p *Platform) serveSites(api *resources.API) {
	g := gateway.New(gateway.Options{
		API: *api, Invoke: p.runtime.Invoke, Account: Account, Now: now, Logger: p.logger,
		DomainName: loopback.Name,
	})
	p.serveGateway(gateway.NewServer(p.onlySites(g), nil, p.logger), p.sites)
}

// serveConsole serves the console. It closes the port if another platform has the mails.
func (p *Platform) serveConsole(context.Context) error {
	if p.mails == nil {
		p.Console = ""
		p.console.close()
		return nil
	}
	console := p.mails.Console()
	guarded := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback.Accepts(r.Host, p.config.hosts()...) {
			http.Error(w, wrongHost, http.StatusForbidden)
			return
		}
		console.ServeHTTP(w, r)
	})
	p.serveGateway(gateway.NewServer(guarded, nil, p.logger), p.console)
	return nil
}

// serveGateway runs a server on the listeners of a port.
func (p *Platform) serveGateway(server *http.Server, at *listeners) {
	p.gateways = append(p.gateways, server)
	p.serve(server, at.all)
}

// onlySites refuses requests whose Host header is not below localhost. No other port accepts names below localhost. So
// a site never has the origin of the API, or of another service of the platform.
func (p *Platform) onlySites(sites http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback.IsBelowLocalhost(r.Host) {
			http.Error(w, "This port only serves sites. The address of a site is "+p.SiteAddress()+".", http.StatusForbidden)
			return
		}
		sites.ServeHTTP(w, r)
	})
}
