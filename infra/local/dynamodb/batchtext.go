package dynamodb

import (
	"maps"
	"slices"
	"strings"

	"devplatform/infra/local/dynamodb/attr"

	"github.com/go-json-experiment/json"
)

// checkTableNames checks the keys of a RequestItems map, of which AWS shows all
// when one is bad.
func checkTableNames(v *violations, names []string, show func([]string) string) {
	for _, name := range names {
		if !strings.HasPrefix(name, arnPrefix) && (len(name) < minNameBytes || len(name) > maxNameBytes || !nameRegexp.MatchString(name)) {
			v.add("'"+show(names)+"'", "requestItems", "Map keys must satisfy constraint: [Member must have length less than or equal to 255, "+
				"Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: "+namePattern+"]")
			return
		}
	}
}

// show writes the request as AWS does in messages: as JSON.
func (in *batchGetRequest) show([]string) string {
	text, err := json.Marshal(in.RequestItems, json.Deterministic(true))
	if err != nil {
		return "{}"
	}
	return string(text)
}

// show writes the request as AWS does in messages, items abridged.
func (in *batchWriteRequest) show(names []string) string {
	tables := make([]string, len(names))
	for i, name := range names {
		kinds := make([]string, len(in.RequestItems[name]))
		for j, request := range in.RequestItems[name] {
			kinds[j] = request.String()
		}
		tables[i] = name + "=[" + strings.Join(kinds, ", ") + "]"
	}
	return "{" + strings.Join(tables, ", ") + "}"
}

// String abridges the values of the attributes.
func (r *writeRequest) String() string {
	put, del := "null", "null"
	if r.PutRequest != nil {
		put = "PutRequest(item=" + showNames(r.PutRequest.Item) + ")"
	}
	if r.DeleteRequest != nil {
		del = "DeleteRequest(key=" + showNames(r.DeleteRequest.Key) + ")"
	}
	return "WriteRequest(putRequest=" + put + ", deleteRequest=" + del + ")"
}

func showNames(item attr.Item) string {
	names := slices.Sorted(maps.Keys(item))
	for i, name := range names {
		names[i] = name + "=AttributeValue(...)"
	}
	return "{" + strings.Join(names, ", ") + "}"
}
