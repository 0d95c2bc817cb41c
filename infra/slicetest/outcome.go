package slicetest

import (
	"errors"
	"sync"

	"devplatform/shared/fault"
)

// CodeOf returns the error code that clients receive. It returns "" for nil, and the text of an error without a code.
func CodeOf(err error) fault.Code {
	if err == nil {
		return ""
	}
	if known, ok := errors.AsType[*fault.Error](err); ok {
		return known.Code
	}
	return fault.Code(err.Error())
}

// CountCodes calls the function do n times concurrently, and returns the number of errors by code. Calls without an
// error count as "".
func CountCodes(n int, do func(i int) error) map[fault.Code]int {
	var mu sync.Mutex
	var wg sync.WaitGroup
	codes, start := map[fault.Code]int{}, make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			code := CodeOf(do(i))
			mu.Lock()
			defer mu.Unlock()
			codes[code]++
		})
	}
	close(start)
	wg.Wait()
	return codes
}
