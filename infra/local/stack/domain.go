package stack

const (
	typeDomain        = "AWS::ApiGateway::DomainName"
	typeDomainMapping = "AWS::ApiGateway::BasePathMapping"
)

// buildDomainMapping adds a custom domain to its API. A mapping has no other effect, so one of another API, or with values
// that only AWS knows, is ignored.
func (r *resolver) buildDomainMapping(res *resource) {
	domain, id := r.quiet(res, "DomainName", ""), r.quiet(res, "RestApiId", "")
	for i := range r.stack.APIs {
		if api := &r.stack.APIs[i]; api.ID == id && domain != "" {
			api.Domains = append(api.Domains, domain)
		}
	}
}
