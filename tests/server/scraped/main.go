// A program as people write it, with Go's own profiles on a free port of
// 127.0.0.1: it burns CPU, allocates, and has goroutines that wait for each other.
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"runtime"
	"sync"
	"time"
)

var (
	lock sync.Mutex
	kept [][]byte
	sink int
)

func burn() {
	for {
		for i := 0; i < 1000000; i++ {
			sink += i * i
		}
		time.Sleep(time.Millisecond)
	}
}

func allocate() {
	for i := 0; ; i++ {
		piece := make([]byte, 64<<10)
		if i < 100 {
			kept = append(kept, piece)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func contend() {
	for {
		lock.Lock()
		time.Sleep(3 * time.Millisecond)
		lock.Unlock()
	}
}

func main() {
	runtime.MemProfileRate = 4096
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	go burn()
	go allocate()
	for i := 0; i < 3; i++ {
		go contend()
	}
	panic(http.Serve(listener, nil))
}
