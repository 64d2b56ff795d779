cd "$(dirname "$0")"
export METERS=/srv/energy/meters.feather
exec python forecast.py --horizon 24 --lr 0.02
