package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"devplatform/infra/templatetest"
)

// access is an access of a function to an item of DynamoDB.
type access struct {
	permission permission
	key        string   // the partition key of the item
	attributes []string // the names of the attributes that an update or a query uses, or all; nil for other actions
}

// all stands for all attributes of an item.
const all = "*"

type attributeValue struct{ S string }

// itemRequest contains the fields that identify the item and its attributes in a request for one item, and in an
// element of a transaction.
type itemRequest struct {
	TableName, IndexName      string
	ProjectionExpression      string
	Key, Item                 map[string]json.RawMessage
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues map[string]json.RawMessage
}

// access returns the access of a request for one item, or of a query.
func (r itemRequest) access(action string, name func(string) string) access {
	a := access{permission: permission("dynamodb:" + action + " " + name(r.TableName))}
	var value attributeValue
	for _, raw := range []json.RawMessage{r.Key["pk"], r.Item["pk"], r.ExpressionAttributeValues[":pk"]} {
		if raw != nil && value.S == "" {
			_ = json.Unmarshal(raw, &value) // an attribute that is not a string is not a partition key
		}
	}
	a.key = value.S
	switch {
	case action == "UpdateItem":
		a.attributes = slices.Sorted(maps.Keys(r.Key))
		a.attributes = slices.AppendSeq(a.attributes, maps.Values(r.ExpressionAttributeNames))
	case action == "Query" && r.ProjectionExpression == "":
		a.attributes = []string{all}
	case action == "Query":
		for _, name := range strings.Split(r.ProjectionExpression, ", ") {
			a.attributes = append(a.attributes, cmp.Or(r.ExpressionAttributeNames[name], name))
		}
	}
	return a
}

// recordAccesses records the accesses to items that a request makes. It records no queries of indexes. The caller holds
// w.mu.
func (w *watched) recordAccesses(function, target string, body []byte) {
	service, operation, _ := strings.Cut(target, ".")
	if !strings.HasPrefix(service, "DynamoDB_") {
		return
	}
	var in struct {
		itemRequest
		TransactItems []map[string]itemRequest
		RequestItems  map[string]json.RawMessage
	}
	if err := json.Unmarshal(body, &in); err != nil {
		w.t.Errorf("the request of %s cannot be decoded: %v", target, err)
	}
	var found []access
	for _, item := range in.TransactItems {
		for kind, request := range item {
			found = append(found, request.access(kind+"Item", w.logicalID))
		}
	}
	for table, raw := range in.RequestItems {
		found = append(found, batchAccesses(permission("dynamodb:"+operation+" "+w.logicalID(table)), raw)...)
	}
	if in.TableName != "" && in.IndexName == "" {
		found = append(found, in.access(operation, w.logicalID))
	}
	if w.accesses[function] == nil {
		w.accesses[function] = map[string]access{}
	}
	for _, a := range found {
		w.accesses[function][fmt.Sprint(a)] = a
	}
}

// batchAccesses returns the accesses of the part of a batch that reads or writes one table.
func batchAccesses(p permission, part json.RawMessage) (found []access) {
	var reads struct{ Keys []map[string]attributeValue }
	var writes []map[string]map[string]map[string]json.RawMessage
	if json.Unmarshal(part, &reads) == nil {
		for _, key := range reads.Keys {
			found = append(found, access{permission: p, key: key["pk"].S})
		}
	}
	if json.Unmarshal(part, &writes) == nil {
		for _, write := range writes {
			for _, request := range write {
				for _, item := range request { // Key or Item
					var value attributeValue
					_ = json.Unmarshal(item["pk"], &value)
					found = append(found, access{permission: p, key: value.S})
				}
			}
		}
	}
	return found
}

// checkConditions compares the accesses of a function with the conditions of its role's statements. Each access must be
// allowed. Each key and attribute of a condition must be used. The caller holds w.mu.
func (w *watched) checkConditions(function string, statements []templatetest.Statement) {
	unused := map[string]bool{}
	for _, s := range statements {
		for _, value := range slices.Concat(s.LeadingKeys, s.Attributes) {
			unused[s.Sid+": "+value] = true
		}
		isLimited := len(s.Actions) == 1 && (s.Actions[0] == "dynamodb:UpdateItem" || s.Actions[0] == "dynamodb:Query")
		if s.Attributes != nil && !isLimited {
			w.t.Errorf("%s: the statement %s limits the attributes of %v, want only of updates or queries",
				function, s.Sid, s.Actions)
		}
	}
	for _, a := range w.accesses[function] {
		allowed := false
		for _, s := range statements {
			if s.Effect != "Allow" || !covers(s, a.permission) || !s.Allows(a.key, a.attributes) {
				continue
			}
			allowed = true
			for _, pattern := range s.LeadingKeys {
				if templatetest.MatchesKey(pattern, a.key) {
					delete(unused, s.Sid+": "+pattern)
				}
			}
			for _, name := range a.attributes {
				delete(unused, s.Sid+": "+name)
			}
		}
		if !allowed {
			w.t.Errorf("the conditions of the role of %s forbid %s with the key %s and the attributes %v",
				function, a.permission, a.key, a.attributes)
		}
	}
	for _, value := range slices.Sorted(maps.Keys(unused)) {
		w.t.Errorf("the condition of the role of %s allows a key or attribute that is never used: %s", function, value)
	}
}

// covers reports whether a statement contains the action and the table of a permission.
func covers(s templatetest.Statement, p permission) bool {
	action, table, _ := strings.Cut(string(p), " ")
	return slices.Contains(s.Actions, action) && slices.Contains(s.Resources, table)
}
