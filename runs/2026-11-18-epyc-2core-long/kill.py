import random, subprocess, time, os, signal, sys, json
exe='target/debug/examples/share'
run=['mpirun','--allow-run-as-root','--oversubscribe','-n','3',exe,'3000000','1']
t=time.time(); ref=subprocess.run(run,capture_output=True); whole=time.time()-t
print('whole',round(whole,1),ref.returncode,len(ref.stdout),flush=True)
r=random.Random(5)
for k in range(10):
    p=subprocess.Popen(run,stdout=subprocess.PIPE,stderr=subprocess.PIPE)
    time.sleep(0.5+r.random()*(whole-1))
    pids=[int(x) for x in subprocess.run(['pgrep','-f','^'+exe],capture_output=True,text=True).stdout.split()]
    if not pids: print(k,'over'); p.communicate(); continue
    t=time.time(); os.kill(r.choice(pids),signal.SIGKILL)
    out,err=p.communicate(timeout=60)
    print(k,'ended after',round(time.time()-t,2),'s code',p.returncode,'message','signal 9' in err.decode() ,flush=True)
again=subprocess.run(run,capture_output=True); print('same bytes again',again.stdout==ref.stdout)
