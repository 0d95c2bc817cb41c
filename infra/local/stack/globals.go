package stack

// globalSections maps a section of Globals to the type whose defaults it holds.
var globalSections = map[string]string{"Function": typeFunction, "Api": typeAPI, "SimpleTable": typeSimpleTable}

// perResource are properties that the types take, but SAM doesn't in Globals.
var perResource = map[string]map[string]bool{
	typeFunction: {
		"FunctionName": true, "Role": true, "Policies": true, "Events": true, "PackageType": true, "VersionDescription": true,
		"AutoPublishAliasAllProperties": true, "AutoPublishCodeSha256": true, "CodeSigningConfigArn": true,
	},
	typeAPI: {
		"StageName": true, "Description": true, "Tags": true, "Models": true, "FailOnWarnings": true, "Mode": true,
		"ApiKeySourceType": true, "DisableExecuteApiEndpoint": true,
	},
	typeSimpleTable: {"PrimaryKey": true, "TableName": true, "ProvisionedThroughput": true, "Tags": true, "PointInTimeRecoverySpecification": true},
}

func (r *resolver) loadGlobals() {
	r.globals = map[string]*node{}
	for _, f := range r.section("Globals") {
		at := place{subject: "Globals", path: f.key}
		typ, known := globalSections[f.key]
		if !known {
			r.add(at, f.line, unsupported)
			continue
		}
		if f.value.kind != mapping {
			r.add(at, f.value.line, "must be a mapping")
			continue
		}
		for _, property := range f.value.fields {
			if perResource[typ][property.key] {
				r.add(at.field(property.key), property.line, "SAM doesn't take this property in Globals")
			}
		}
		r.object(at, f.value, r.classes[typ].properties)
		r.globals[typ] = f.value
	}
}

// mergeGlobals merges as SAM does: mappings merge, lists are concatenated, anything else of the resource's own wins.
func mergeGlobals(global, own *node) *node {
	switch {
	case own == nil:
		return global
	case global == nil || own.kind != global.kind || isCall(own) || isCall(global):
		return own
	case own.kind == list:
		return &node{kind: list, line: own.line, items: append(append([]*node{}, global.items...), own.items...)}
	case own.kind != mapping:
		return own
	}
	merged := &node{kind: mapping, line: own.line}
	for _, f := range global.fields {
		value := mergeGlobals(f.value, own.get(f.key))
		line := f.line
		for _, mine := range own.fields {
			if mine.key == f.key {
				line = mine.line
			}
		}
		merged.fields = append(merged.fields, field{f.key, line, value})
	}
	for _, f := range own.fields {
		if global.get(f.key) == nil {
			merged.fields = append(merged.fields, f)
		}
	}
	return merged
}

func isCall(n *node) bool {
	_, _, ok := n.intrinsic()
	return ok
}
