# Ten times: a rank of a fit that saves its state is killed (-9) at a random moment; the fit then goes on from the state with a number of
# ranks drawn anew, and gives the bytes of a fit that nobody interrupted.
import os, random, signal, subprocess, sys, time
program, table = sys.argv[1:]
def command(ranks, out, *more):
    run = ['mpirun', '--allow-run-as-root', '--oversubscribe', '-n', str(ranks), program, 'fit', table, '--target', 'c11', '--budget', '3', '--threads', '1', '-q', '-o', out]
    return run + list(more)
begin = time.time(); subprocess.run(command(3, 'whole.json'), check=True, capture_output=True); whole = time.time() - begin
expected = open('whole.json', 'rb').read()
print('kill,ranks,at_s,ended_after_s,code,message,state_bytes,resumed_on,resumed_s,same_bytes', flush=True)
print('# uninterrupted on 3 ranks:', round(whole, 1), 's', flush=True)
draw = random.Random(17)
for kill in range(10):
    for file in ['fit.state', 'out.json']:
        if os.path.exists(file): os.remove(file)
    ranks, other = draw.choice([2, 3, 4]), draw.choice([1, 2, 3, 4])
    job = subprocess.Popen(command(ranks, 'out.json', '--checkpoint', 'fit.state'), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    at = 1 + draw.random() * (whole - 2); time.sleep(at)
    pids = [int(pid) for pid in subprocess.run(['pgrep', '-f', '^' + program + ' fit'], capture_output=True, text=True).stdout.split()]
    if not pids: print(kill, 'was over'); job.communicate(); continue
    begin = time.time(); os.kill(draw.choice(pids), signal.SIGKILL)
    _, error = job.communicate(timeout=60); ended = time.time() - begin
    message = 'signal 9' in error.decode()
    size = os.path.getsize('fit.state') if os.path.exists('fit.state') else 0
    begin = time.time()
    more = ['--resume', 'fit.state'] if size else ['--checkpoint', 'fit.state']
    again = subprocess.run(command(other, 'out.json', *more), capture_output=True); took = time.time() - begin
    same = again.returncode == 0 and open('out.json', 'rb').read() == expected
    print(kill, ranks, round(at, 1), round(ended, 2), job.returncode, message, size, other, round(took, 1), same, sep=',', flush=True)
    if again.returncode: print('#', again.stderr.decode()[-300:], flush=True)
