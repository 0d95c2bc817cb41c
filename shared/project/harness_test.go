package project_test

import (
	"devplatform/infra/projecttest"
	"devplatform/infra/slicetest"
)

type (
	fixture  = projecttest.Fixture
	user     = projecttest.User
	object   = projecttest.Object
	response = slicetest.Response
)
