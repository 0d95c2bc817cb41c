package main

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"devplatform/infra/local/gateway"
	"devplatform/infra/local/loopback"
	"devplatform/infra/local/stack"
)

// parameterDefaults replace the defaults of the template's parameters. With them, the template has the API of the sites,
// and needs no model. The values are not used: functions get SITES_ORIGIN and AI_PROVIDER.
var parameterDefaults = map[string]string{
	"AiProvider":          "scaffold",
	"SitesDomain":         "sites.localhost",
	"SitesCertificateArn": "arn:aws:acm:us-east-1:" + account + ":certificate/local",
}

// findAPIs returns the API for PORT, and the API of the sites, for SITES_PORT: it is the one that the template maps to a
// wildcard domain, such as *.example.app. Each is nil if the template does not have it.
func findAPIs(s *stack.Stack) (api, sites *stack.API, err error) {
	for i := range s.APIs {
		found := &api
		if slices.ContainsFunc(s.APIs[i].Domains, func(domain string) bool { return strings.HasPrefix(domain, "*.") }) {
			found = &sites
		}
		if *found != nil {
			return nil, nil, fmt.Errorf("the local platform runs one API, and one API with a wildcard domain: %s and %s are of the same kind",
				(*found).LogicalID, s.APIs[i].LogicalID)
		}
		*found = &s.APIs[i]
	}
	return api, sites, nil
}

// sitesOrigin is the origin below which sites are: the label of a site is the first part of its host name.
func (p *platform) sitesOrigin() string { return "http://localhost" + portSuffix(p.sites.port) }

// siteAddress shows the form of the addresses of sites.
func (p *platform) siteAddress() string { return "http://<label>.localhost" + portSuffix(p.sites.port) }

// portSuffix returns a port as an http origin contains it: an origin has no default port.
func portSuffix(port int) string {
	if port == 80 {
		return ""
	}
	return ":" + strconv.Itoa(port)
}

// serveSites opens the port of the sites, over plain http only. Without an API for sites, the port is given back.
func (p *platform) serveSites(api *stack.API) error {
	if api == nil {
		p.sites.close()
		return nil
	}
	sites, err := gateway.New(gateway.Options{
		API: *api, Invoke: p.runtime.Invoke, Account: account, Now: now, Logger: p.logger,
		DomainName: loopback.Name, Beside: p.gateway,
	})
	if err != nil {
		return err
	}
	p.siteGateway = sites
	listeners := make([]net.Listener, 0, len(p.sites.all))
	for _, ln := range p.sites.all {
		listeners = append(listeners, sites.Listener(ln))
	}
	p.servers = append(p.servers, p.serve(gateway.NewServer(p.onlySites(sites), nil, p.logger), listeners))
	return nil
}

// onlySites refuses requests whose Host header is not below localhost. No other port accepts such names. So a site never
// has the origin of the API, or of another service of the platform.
func (p *platform) onlySites(sites http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback.IsBelowLocalhost(r.Host) {
			http.Error(w, "This port only serves sites. The address of a site is "+p.siteAddress()+".", http.StatusForbidden)
			return
		}
		sites.ServeHTTP(w, r)
	})
}
